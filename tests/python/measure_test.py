"""Measurements of one output: norms, non-finite elements, ties, poison, structure."""

from __future__ import annotations

import math

import pytest
import torch

from mtmc.referee.measure import PIECE, filled, measure, nearest_constant, settled
from mtmc.referee.ties import Ties


def of(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor | None = None) -> dict:
    return measure(c, e, e.double() if t is None else t, None)


@pytest.mark.parametrize(
    ("kind", "truth", "level"),
    [
        (torch.float16, 1e6, math.inf),
        (torch.float16, -1e6, -math.inf),
        (torch.float32, 1e39, math.inf),
        (torch.float32, 0.5, 0.5),
        (torch.complex64, 1e39, 0.0),
        (torch.int64, 2**63 - 1, 2**63 - 1),
        (torch.uint8, 255, 255),
        (torch.bool, True, True),
    ],
)
def test_the_nearest_constant_of_a_truth_is_one_of_eagers_type(kind: torch.dtype, truth: float, level: float) -> None:
    """In double a product of half numbers is finite where half numbers are not."""
    e = torch.ones(4, dtype=kind)
    wide = {torch.float16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128}
    made = filled(e, nearest_constant(torch.full((4,), truth, dtype=wide.get(kind, kind))))
    assert made.dtype == kind and made.shape == e.shape and made.tolist() == [level] * 4


def test_errors_are_relative_to_the_truth() -> None:
    e = torch.tensor([3.0, 4.0])
    found = of(e + torch.tensor([0.0, 0.5]), e)
    assert math.isclose(found["error"], 0.1) and found["max_error"] == 0.5 and found["max_truth"] == 4.0
    assert found["official_bad"] == 1 and not found["exact"]
    assert of(e.clone(), e)["exact"]


def test_huge_and_tiny_values_do_not_overflow() -> None:
    e = torch.tensor([1e300, 1e-300], dtype=torch.float64)
    assert math.isclose(of(e * (1 + 1e-9), e)["error"], 1e-9, rel_tol=1e-3)


def test_non_finite_elements_are_counted_apart() -> None:
    e = torch.tensor([1.0, math.nan, math.inf, 2.0])
    found = of(torch.tensor([math.nan, math.nan, -math.inf, 2.0]), e)
    assert found["nonfinite"] == 1 and found["mismatched"] == 1 and found["error"] == 0.0


def test_a_truth_beyond_the_type_may_be_an_infinity() -> None:
    e, t = torch.tensor([0.0, 1.0]), torch.tensor([1e60, 1.0], dtype=torch.float64)
    assert of(torch.tensor([math.inf, 1.0]), e, t)["nonfinite"] == 0
    for wrong in ([-math.inf, 1.0], [math.nan, 1.0], [math.inf, math.inf]):
        assert of(torch.tensor(wrong), e, t)["nonfinite"] == 1


def test_where_eager_and_the_truth_leave_the_type_only_that_infinity_is_right() -> None:
    e, t = torch.tensor([math.inf, 1.0]), torch.tensor([1e39, 1.0], dtype=torch.float64)
    assert of(torch.tensor([math.inf, 1.0]), e, t)["mismatched"] == 0
    for wrong in (math.nan, -math.inf, 3.0):
        assert of(torch.tensor([wrong, 1.0]), e, t)["mismatched"] == 1


def test_what_the_type_does_not_hold_hides_nothing_small() -> None:
    """The scale of elements is that of those that are there."""
    e = torch.cat([torch.full((1,), math.inf), torch.linspace(1, 2, 999)])
    t = torch.cat([torch.full((1,), 1e60, dtype=torch.float64), torch.linspace(1, 2, 999, dtype=torch.float64)])
    halved = torch.where(e.isfinite(), e / 2, e)
    tails, alone = (of(c, x, y)["tails"]["elements"] for c, x, y in ((halved, e, t), (halved[1:], e[1:], t[1:])))
    assert tails[1:] == alone[1:] and sum(alone[1:]) > 0


def test_what_is_not_finite_is_as_eagers_or_as_the_truth() -> None:
    e, t = torch.tensor([math.nan, math.nan]), torch.tensor([math.inf, 1.0], dtype=torch.float64)
    assert of(torch.tensor([math.inf, 1.0]), e, t)["mismatched"] == of(e.clone(), e, t)["mismatched"] == 0
    assert (
        of(torch.tensor([-math.inf, 1.0]), e, t)["mismatched"] == of(torch.tensor([0.0, 1.0]), e, t)["mismatched"] == 1
    )


@pytest.mark.parametrize(("c", "wrong"), [(math.inf, 0), (1.0, 0), (1.03, 0), (0.5, 1), (-2.0, 1)])
def test_what_eager_loses_and_the_truth_has_is_near_the_truth_or_as_eagers(c: float, wrong: int) -> None:
    e, t = torch.tensor([math.inf, 1.0]), torch.tensor([1.0, 1.0], dtype=torch.float64)
    assert measure(torch.tensor([c, 1.0]), e, t, None)["mismatched"] == wrong


def test_a_truth_of_zero_has_absolute_errors_only() -> None:
    zeros = torch.zeros(4)
    found = of(torch.tensor([0.0, 3.0, 4.0, 0.0]), zeros)
    assert found["error"] is None and found["off"] == 5 and found["max_error"] == 4
    assert found["tails"]["elements"] == [0] * 10
    assert of(zeros.clone(), zeros)["error"] == 0


def test_a_small_term_beside_a_large_one_is_counted() -> None:
    e = torch.cat([torch.full((3, 8), 1e6), torch.full((3, 8), 1e-3)], 1)
    c = torch.cat([e[:, :8], torch.zeros(3, 8)], 1)
    found = of(c, e)
    assert found["error"] < 1e-8 and found["tails"]["elements"][:2] == [48, 24]
    assert found["tails"]["rows"] == [3] + [0] * 9  # in each row a large one
    by_rows = of(torch.cat([e[:, :8], e[:, 8:] * 1.01]), torch.cat([e[:, :8], e[:, 8:]]))["tails"]
    assert by_rows["rows"] == [6, 0, 0, 0, 0] + [3] * 5  # from 4^-4 on


def test_what_is_too_small_to_tell_is_not_counted() -> None:
    flushed = of(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([1.0, 1e-39, 1e-12]))["tails"]["elements"]
    assert flushed[:2] == [2, 1]
    rounded = of(torch.tensor([1.0, 1e-9]), torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1e-17], dtype=torch.float64))
    assert rounded["tails"]["elements"][:2] == [1, 0]
    halves = torch.tensor([1e-4, 6e-7]).half()
    assert of(torch.zeros(2).half(), halves)["tails"]["elements"][:2] == [1, 1]


def test_a_row_that_is_zero_but_for_an_element_or_two_is_counted_as_these() -> None:
    e = torch.zeros(3, 8)
    e[0, :3], e[1, :4], e[2] = 1.0, 1.0, 1.0
    found = of(torch.zeros(3, 8), e)["tails"]
    assert found["rows"][:2] == [2, 2] and found["elements"][:2] == [15, 15]


def test_copies_that_err_alike_count_once() -> None:
    e = torch.rand(6, 8)[[0, 1, 1, 1, 2, 2]]
    c = e.clone()
    c[1:4] *= 2  # three copies of a row, by as much as itself
    c[5, 0] = 0  # one of two copies, and little of its row
    row = {copied: measure(c, e, e.double(), None, copied)["tails"] for copied in (False, True)}
    assert [row[copied]["rows"][1] for copied in (False, True)] == [3, 1]
    assert [row[copied]["elements"][1] for copied in (False, True)] == [25, 9]


def test_complex_numbers_are_rows_of_two_parts() -> None:
    e = torch.tensor([1 + 1e-12j, 2 - 3j])
    c = torch.tensor([1 + 1e-8j, 2 - 3j])
    assert of(c, e, e.to(torch.complex128))["tails"] == {"rows": [2] + [0] * 9}


def test_pieces_are_measured_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    e = torch.randn(13, 6, 5)
    c = e * (1 + 1e-3 * torch.randn(e.shape))
    whole = of(c, e)
    for piece in (64, 5, 3):
        monkeypatch.setitem(PIECE, "cpu", piece)
        parts = of(c, e)
        assert parts["tails"]["elements"] == whole["tails"]["elements"]
        assert math.isclose(parts["off"], whole["off"]) and parts["max_error"] == whole["max_error"]
        assert parts["tails"].get("rows", whole["tails"]["rows"]) == whole["tails"]["rows"]


def test_integers_far_off_and_indices_that_repeat() -> None:
    t = torch.tensor([[2, 0, 1], [1, 2, 0]])
    found = measure(torch.tensor([[2, 0, 2_000_000_001], [1, 2, 0]]), t, t, None)
    assert found["wrong"] == 1 and found["distance"] == 2e9 and found["repeated"] == 0
    values = torch.zeros(2, 3, dtype=torch.float64)  # all tied
    again = torch.tensor([[2, 2, 1], [1, 2, 0]])
    assert measure(again, t, t, Ties(values, 1, distinct=True))["repeated"] == 1
    assert measure(again, t, t, Ties(values, 1))["repeated"] == 0
    assert measure(t.flip(1), t, t, Ties(values, 1, distinct=True))["repeated"] == 0
    values, kept = torch.tensor([[5.0, 1, 1, 1]]).double(), torch.tensor([[1, 2, 3, 0]])
    turned = torch.tensor([[1, 3, 2, 0]])  # of equal values
    assert measure(turned, kept, kept, Ties(values, 1, distinct=True, stable=True))["repeated"] == 1
    assert measure(turned, kept, kept, Ties(values, 1, distinct=True))["repeated"] == 0
    assert measure(turned, turned, kept, Ties(values, 1, distinct=True, stable=True))["repeated"] == 0, "as eager's"


def test_shape_type_and_poison() -> None:
    e = torch.ones(4)
    assert of(torch.ones(1, 4), e)["mismatch"] == "wrong-shape"
    assert of(torch.ones(4).half(), e)["mismatch"] == "wrong-dtype"
    poisoned = torch.full((16,), 0xFE, dtype=torch.uint8).view(torch.float32)
    assert of(poisoned, e)["poison"] == 4


def test_python_floats_are_measured_against_the_truth() -> None:
    own = measure(3.0001, 3.0001, 3.0, None)  # eager's rounding: its budget
    assert own["kind"] == "float" and own["dtype"] == "float64" and own["exact"]
    assert math.isclose(own["error"], 1e-4 / 3, rel_tol=1e-6) and math.isclose(own["max_error"], 1e-4, rel_tol=1e-6)
    assert math.isclose(measure(4.5, 3.0001, 3.0, None)["error"], 0.5)
    assert measure(math.nan, 3.0, 3.0, None)["nonfinite"] == 1
    assert measure(math.inf, math.inf, math.inf, None)["mismatched"] == 0
    assert measure(torch.tensor(3.0), 3.0, 3.0, None)["mismatch"] == measure(3, 3.0, 3.0, None)["mismatch"]


def test_other_python_values_are_equal_or_wrong() -> None:
    for c, e, wrong in ((3, 3, 0), (3, 4, 1), (True, False, 1), ("a", "a", 0), ("a", "b", 1), (None, None, 0)):
        found = measure(c, e, e, None)
        assert found["kind"] == "integer" and found["wrong"] == wrong and found["exact"] == (not wrong)
    assert measure(1, True, True, None)["mismatch"] == "wrong-shape"


def test_indices_of_tied_values_are_judged_by_their_gap() -> None:
    values = torch.tensor([[1.0, 1.0 + 1e-9, 0.0]], dtype=torch.float64)
    best = torch.tensor([1])
    near = measure(torch.tensor([0]), best, best, Ties(values, 1))
    far = measure(torch.tensor([2]), best, best, Ties(values, 1))
    outside = measure(torch.tensor([7]), best, best, Ties(values, 1))
    assert near["wrong"] == 0 and near["gap"] < 1e-8
    assert far["gap"] > 0.5
    assert outside["wrong"] == 1
    lost = torch.tensor([[math.inf, math.inf, math.nan, math.nan, 1.0]], dtype=torch.float64)
    for chosen, other, tied in ((0, 1, True), (2, 3, True), (0, 2, False), (4, 0, False)):
        found = measure(torch.tensor([chosen]), torch.tensor([other]), torch.tensor([other]), Ties(lost, 1))
        assert (found["gap"] == 0) == tied


def test_an_index_is_astray_by_what_is_in_its_own_row() -> None:
    values = torch.randn(64, 32, dtype=torch.float64) * torch.logspace(0, -12, 64, dtype=torch.float64)[:, None]
    best, any_index = values.argmax(1), torch.zeros(64, dtype=torch.int64)
    late = torch.where(torch.arange(64) < 40, best, any_index)
    found = measure(late, best, best, Ties(values, 1))
    assert found["gap"] < 1e-6 and found["astray"] > 15
    assert measure(best, best, best, Ties(values, 1))["astray"] == 0
    copies = values[40:41].expand(64, 32)
    assert measure(any_index, copies.argmax(1), copies.argmax(1), Ties(copies, 1))["astray"] == 1
    noise = torch.cat([values[:40], 1e-18 * torch.randn(24, 32, dtype=torch.float64)])
    assert measure(late, noise.argmax(1), noise.argmax(1), Ties(noise, 1))["astray"] == 0


def test_the_nearest_constant() -> None:
    infinity = float("inf")
    assert nearest_constant(torch.tensor([[1.0, infinity], [4.0, float("nan")]], dtype=torch.float64)) == 2.5
    assert nearest_constant(torch.tensor([[3, 7], [7, 1]])) == 7
    assert nearest_constant(torch.tensor([True, False, True])) == 1
    assert (
        nearest_constant(torch.full((2,), infinity)) == nearest_constant(torch.empty(0)) == nearest_constant(2.0) == 0
    )


def test_a_lost_statistic_is_lost_either_way() -> None:
    eager = torch.tensor([1.0, math.nan, math.inf, 2.0, -math.inf])
    kept = settled(torch.tensor([1.0, math.inf, math.nan, math.nan, math.inf]), eager)
    assert kept[1].isnan() and kept[2] == math.inf
    found = measure(kept, eager, eager.double(), None)
    assert found["nonfinite"] == 1 and found["mismatched"] == 1  # NaN for a number, and the other infinity
    assert measure(settled(torch.zeros(5), eager), eager, eager.double(), None)["mismatched"] == 3
    elsewhere = torch.zeros(5, device="meta")
    assert settled(elsewhere, eager) is elsewhere
