"""The float64 truth: types that the code names are widened, random values replayed, ties of indices known."""

from __future__ import annotations

import pytest
import torch

from mtmc.referee import definitions, half_ulp
from mtmc.referee.truth import WIDER, Record, TruthError, Widen, everywhere, run_wide, widen


def test_float32_named_in_the_code_is_widened() -> None:
    x = torch.rand(1000, dtype=torch.float64)

    def forward() -> torch.Tensor:
        start = torch.zeros(1, dtype=torch.float32)
        total = start + x.float().half().sum(dtype=torch.float32) + torch.ones(1)
        return torch.nn.functional.softmax(x, dim=0, dtype=torch.float32).sum() + total

    truth, _ = run_wide(forward, [])
    assert truth.dtype == torch.float64
    assert abs(truth.item() - (x.sum().item() + 2)) < 1e-9


def test_integers_and_booleans_stay() -> None:
    truth, _ = run_wide(lambda: (torch.arange(3), torch.ones(2, dtype=torch.bool)), [])
    assert truth[0].dtype == torch.int64 and truth[1].dtype == torch.bool


def test_dropout_gets_the_mask_that_eager_drew() -> None:
    x = torch.randn(500)
    record = Record()
    with record:
        eager = torch.nn.functional.dropout(x, 0.3)
    truth, _ = run_wide(lambda: torch.nn.functional.dropout(x.double(), 0.3), record.drawn)
    assert torch.equal(truth == 0, eager == 0)
    assert torch.allclose(truth.float(), eager)


@pytest.mark.parametrize("in_place", [False, True])
def test_an_rrelu_gets_the_slopes_that_eager_drew(in_place: bool) -> None:
    """Of NaN it draws none, and its next call draws its own."""

    def forward(x: torch.Tensor) -> list[torch.Tensor]:
        parts = (torch.full((4,), torch.nan), x.clone(), -x.abs())
        return [torch.nn.functional.rrelu(part, training=True, inplace=in_place) for part in parts]

    x, record = torch.randn(500), Record()
    with record:
        eager = forward(x)
    truth, _ = run_wide(lambda: forward(x.double()), record.drawn)
    for one, other in zip(truth, eager, strict=True):
        assert one.dtype == torch.float64 and torch.allclose(one.float(), other, equal_nan=True)
    still, _ = run_wide(lambda: torch.nn.functional.rrelu(x.double()), record.drawn)
    assert torch.equal(still < 0, x < 0), "out of training it draws nothing"


def test_more_random_calls_than_eager_made_are_refused() -> None:
    record = Record()
    with record:
        torch.rand(3)
    with pytest.raises(TruthError, match="more often"):
        run_wide(lambda: (torch.rand(3), torch.rand(3)), record.drawn)


def test_what_a_gpus_dropout_drew_is_replayed_on_the_host() -> None:
    """There dropout is one operator, which returns the result and the mask; here it draws a mask into memory."""
    x, mask = torch.ones(64), torch.rand(64) > 0.3
    truth, _ = run_wide(lambda: torch.nn.functional.dropout(x, 0.3), [(x * mask / 0.7, mask)])
    assert torch.allclose(truth, mask.double() / 0.7)


def test_an_error_without_words_is_told_by_its_name() -> None:
    def bare() -> None:
        raise AssertionError

    with pytest.raises(TruthError, match="AssertionError"):
        run_wide(bare, [])


def test_ties_point_into_the_values() -> None:
    x = torch.tensor([[1.0, 3.0, 3.0], [5.0, 4.0, 5.0]], dtype=torch.float64)
    index, orders = run_wide(lambda: x.argmax(dim=1), [])
    known = orders.of(index)
    assert torch.equal(known.at(torch.tensor([2, 2])), torch.tensor([3.0, 5.0], dtype=torch.float64))
    for call, stable in ((lambda: x.sort().indices, False), (lambda: (x > 0).int().argsort(stable=True), True)):
        index, orders = run_wide(call, [])
        assert orders.of(index).stable == stable
    (_, order), orders = run_wide(lambda: x.topk(2, 1), [])
    assert torch.equal(orders.of(order).at(order), x.topk(2, 1).values)


def test_half_an_ulp_leaves_its_argument_and_its_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_ulp, "PIECE", 7)
    for x in (torch.full((5, 6), 1 / 3), torch.full((6, 5), 0.1).t(), torch.randn(4, dtype=torch.float64)):
        before = x.clone()
        moved = half_ulp.half_an_ulp(3)(x)
        off = (moved / x.double() - 1).abs() / (torch.finfo(x.dtype).eps / 2)
        assert torch.equal(x, before) and moved.stride() == x.stride()
        assert x.dtype == torch.float64 or bool((off.round() == 1).all())


def test_half_an_ulp_leaves_short_numbers() -> None:
    ids = torch.tensor([[0.0, 1.0, -1.0, 30000.0, 1.5, -0.25], [0.1, 3.0000002, 1e30, torch.inf, -torch.inf, -0.0]])
    moved = half_ulp.half_an_ulp(3)(ids)
    assert torch.equal(moved[0], ids[0].double()) and torch.equal(moved[1, 3:], ids[1, 3:].double())
    assert bool((moved[1, :3] != ids[1, :3].double()).all())
    coarse = torch.tensor([1.0, 9.0, 256.0, 17.0, 257 / 256 * 3.1], dtype=torch.bfloat16)
    assert (half_ulp.half_an_ulp(3)(coarse) == coarse.double()).tolist() == [True, True, True, False, False]
    few = torch.randn(10_000)
    assert 0.9 < float((half_ulp.half_an_ulp(3)(few) != few.double()).double().mean()) < 0.97


@pytest.mark.parametrize(
    ("a", "b", "ends"),
    [((10, 16), (3, 16, 8), [3, 3, 10]), ((10, 16), (16, 12), [4, 8, 16]), ((3, 5, 16), (16, 12), [4, 8, 12])],
)
def test_grouped_products_come_from_their_definition(a: tuple[int], b: tuple[int], ends: list[int]) -> None:
    x, y, ends = torch.randn(a), torch.randn(b), torch.tensor(ends, dtype=torch.int32)
    eager = torch._grouped_mm(x, y, offs=ends)
    truth, _ = run_wide(lambda: torch._grouped_mm(x.double(), y.double(), offs=ends), [])
    assert truth.dtype == torch.float64 and torch.allclose(truth.float(), eager, atol=1e-5)


@pytest.mark.parametrize(("channels", "width", "defined"), [(1, 64, True), (2, 64, False), (1, 32, False)])
def test_on_the_host_channels_with_a_kernel_each_are_convolved_by_definition(
    channels: int, width: int, defined: bool
) -> None:
    x, weight = torch.ones(1, 4 * channels, 5, 5), torch.ones(4, channels, 3, 3)
    kind = torch.float64 if width == 64 else torch.float32
    arguments = x.to(kind), weight.to(kind), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 4
    found = definitions.definition_of(torch.ops.aten.convolution.default, arguments)
    assert (found is definitions.convolution) == defined


def test_what_follows_a_zero_is_zero_though_segments_make_nan_of_it() -> None:
    inf, nan = torch.inf, torch.nan
    rows = (
        [[2, 0, 1e200, 1e200, 0, 3], [1e200, 1e200, 0, 1, 1, 1], [2, 0, 1, inf, 1, 1]],
        [[2, 0, 0, nan, nan, nan], [1e200, inf, nan, nan, nan, nan], [2, 0, 0, nan, nan, nan]],
        [[2, 0, 0, 0, 0, 0], [1e200, inf, nan, nan, nan, nan], [2, 0, 0, nan, nan, nan]],
    )
    x, segments, wanted = (torch.tensor(each, dtype=torch.float64) for each in rows)
    assert torch.equal(definitions.in_turn(segments, x, 1).nan_to_num(7), wanted.nan_to_num(7))
    assert torch.equal(definitions.in_turn(segments.T, x.T, 0).nan_to_num(7), wanted.T.nan_to_num(7))


def test_running_products_come_from_their_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "in_turn", lambda product, x, dim: product + 1)
    result, _ = run_wide(lambda: torch.cumprod(torch.full((3,), 2.0), 0), [])
    assert result.tolist() == [3.0, 5.0, 9.0] and result.dtype == torch.float64
    into, _ = run_wide(lambda: torch.cumprod(torch.full((3,), 2.0), 0, out=torch.empty(3)), [])
    assert into.tolist() == [2.0, 4.0, 8.0], "another overload: torch's own"


def test_eight_bit_products_come_from_their_definition() -> None:
    a, b = torch.randn(4, 16).to(torch.float8_e4m3fn), torch.randn(8, 16).to(torch.float8_e4m3fn).t()
    scales = torch.tensor(0.5), torch.tensor(3.0)
    eager = torch._scaled_mm(a, b, *scales, out_dtype=torch.float32)
    truth, _ = run_wide(lambda: torch._scaled_mm(a, b, *scales, out_dtype=torch.float32), [])
    assert truth.dtype == torch.float64 and torch.allclose(truth.float(), eager, atol=1e-4)


def test_what_says_that_double_is_none_of_its_types_is_taken_apart() -> None:
    softmax = torch.ops.aten._softmax.default
    assert definitions.definition_of(softmax, ()) is None
    assert definitions.definition_of(softmax, (), RuntimeError("not implemented for 'Double'")) is not None
    assert definitions.definition_of(softmax, (), RuntimeError("shapes do not fit")) is None


def test_orderings_have_distinct_indices() -> None:
    x = torch.randn(4, 8, dtype=torch.float64)
    calls = ((lambda: x.argsort(0), True), (lambda: x.topk(3, 0)[1], True), (lambda: x.argmax(0), False))
    for call, distinct in calls:
        index, orders = run_wide(call, [])
        assert orders.of(index).distinct == distinct


@pytest.mark.parametrize(("dropout", "train", "consumes"), [(0.0, True, False), (0.3, True, True), (0.3, False, False)])
def test_a_recurrence_draws_only_for_its_dropout(dropout: float, train: bool, consumes: bool) -> None:
    arguments = [None] * 11 + [dropout, train, False, [], None]
    assert Widen([], WIDER)._consumes("_cudnn_rnn", arguments) == consumes


def test_everywhere_reaches_what_tree_map_reaches() -> None:
    values, places = torch.ones(2, 3).max(1)
    given = ([torch.ones(1), torch.float32, None, 2.5], {"a": (torch.ones(1),)}, torch.ones(2, 3).max(1), places)
    wide = everywhere(widen, given)
    assert isinstance(wide, tuple) and isinstance(wide[2], torch.return_types.max)
    assert [wide[0][0].dtype, wide[0][1], wide[0][2], wide[0][3]] == [torch.float64, torch.float64, None, 2.5]
    assert wide[1]["a"][0].dtype == wide[2].values.dtype == torch.float64
    assert wide[3] is places and torch.equal(wide[2].values, values.double())
