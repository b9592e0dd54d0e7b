"""Draws: what each kind changes, and that nothing that it must not change does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mtmc.referee import draws, sizes
from mtmc.referee.draws import STRUCTURED, make_draw, other_kinds, sizes_to_vary, structured_kinds
from mtmc.referee.weights import LIFTED, NUDGED, TINY, lifted_weights, nudged_weights, second_weights, turned_weights

MASK = torch.arange(96).reshape(8, 12) % 3 == 0


def made(kind: str, index: int = 0, *extra: Any) -> list[Any]:
    """x, a mask, indices, a tensor of one number, a number, a count; as `draws` makes them of a task."""

    def make_inputs(seed: int) -> list[Any]:
        x = torch.randn(8, 12, generator=torch.Generator().manual_seed(seed))
        return [x, MASK.clone(), torch.arange(8), torch.tensor(2.0), 0.5, 3, *extra]

    task = SimpleNamespace(make_inputs=make_inputs, where=torch.device("cpu"))
    return make_draw(task, 7, kind, str(index))


@pytest.mark.parametrize("kind", [*STRUCTURED, "permuted", "numbers", "shape0", "shape1"])
def test_a_draw_is_the_same_whenever_it_is_made(kind: str) -> None:
    for a, b in zip(made(kind), made(kind), strict=True):
        assert torch.equal(torch.as_tensor(a).nan_to_num(), torch.as_tensor(b).nan_to_num())


def test_permuted_changes_masks_indices_and_numbers_that_are_tensors() -> None:
    x, mask, index, number, scalar, count = made("permuted")
    assert not torch.equal(mask, MASK) and mask.sum() == MASK.sum() and mask.shape == MASK.shape
    assert index.sort().values.tolist() == list(range(8)) and index.tolist() != list(range(8))
    assert abs(number) > 2.4 and (scalar, count) == (0.5, 3) and x.isfinite().all()
    generator = torch.Generator().manual_seed(0)
    alone = [draws.permuted(torch.tensor(value), generator) for value in ([5], 5, 0, True)]
    assert 0 <= alone[0] < 5 and alone[0].shape == (1,) and 0 <= alone[1] < 5 and alone[2] == 1 and not alone[3]


def test_numbers_that_are_no_tensors_are_changed_apart() -> None:
    *_, number, scalar, count = made("numbers")
    assert number == 2 and 0.5 * 1.25 <= scalar < 0.5 * 2.25 and count == 3
    *_, scalar, count = made("far-numbers")
    assert 0.5 * 128 <= scalar < 0.5 * 2048 and count == 3
    *_, scalar, count = made("lesser-integers")
    assert scalar == 0.5 and 0 <= count < 3
    generator = torch.Generator().manual_seed(0)
    assert [draws.lesser(value, generator) for value in (True, 0, -1)] == [True, -1, -2]


def test_few_rows_holds_zeros_equal_elements_and_copies() -> None:
    x = made("few-rows")[0]
    assert torch.equal(x[0], x[3]) and torch.equal(x[0], x[4]) and len(x[0].unique()) > 1
    assert len(x[1].unique()) == 1 and x[1, 0] != 0 and not x[2].any() and not x[6].any()
    line = draws.few_rows(torch.randn(8), torch.Generator())
    assert line[0] == line[3] == line[7] and line[2] == 0
    assert len(x[2::4].signbit().unique()) == 2, "zeros of either sign"


def test_no_row_is_a_large_part_of_thousands() -> None:
    found = draws.few_rows(torch.randn(8192, 8), torch.Generator().manual_seed(1))
    rows, counts = found.unique(dim=0, return_counts=True)
    assert len(rows) == 2 * draws.MOST_COPIED + 1
    assert counts.tolist().count(8192 // 4) == 1 and sorted(counts.tolist())[-2] == 8192 // 2 // draws.MOST_COPIED


def test_an_offset_is_fifty_times_the_spread() -> None:
    x = made("offset")[0]
    assert 45 < float(x.mean() / x.std()) < 55
    for halves in (torch.float16, torch.bfloat16):
        assert draws.with_offset(torch.randn(64).to(halves), torch.Generator()).isfinite().all()


def test_what_is_not_finite_may_lie_anywhere_also_near_the_end_and_in_the_last_element() -> None:
    far, x = set(), torch.zeros(1 << 21)
    last = set()
    for seed in range(16):
        y = draws.with_non_finite(x, torch.Generator().manual_seed(seed))
        end = y[-len(y) // 16 :]
        assert end.isnan().any() and end.isposinf().any() and end.isneginf().any()
        far |= {int(place) > 1 << 20 for place in (~y.isfinite()).nonzero().flatten()}
        last.add(bool(y[-1].isfinite()))
    assert far == last == {True, False}


def test_every_size_is_varied_in_three_ways() -> None:
    arguments = [torch.randn(8, 12), torch.randn(12, 5)]
    assert sizes_to_vary(arguments) == [8, 12, 5]
    for which, size in enumerate((8, 12, 5)):
        larger = {size * times + size // 2 for times in (1, 2, 3)}
        smaller = {size // 2, *range(1, min(size - 1, 7) + 1)}
        for way, wanted in enumerate((set(range(size + 1, size + 9)), larger, smaller)):
            found = set()
            for seed in range(120):
                generator = torch.Generator().manual_seed(seed)
                x, y = draws.other_shape(arguments, sizes.WAYS * which + way, generator)
                assert x.shape[1] == y.shape[0]
                found.add({8: x.shape[0], 12: x.shape[1], 5: y.shape[1]}[size])
            assert found == wanted
    (large,) = draws.other_shape([torch.zeros(1000)], 1, torch.Generator())
    assert len(large) == 1500


def test_kinds_that_would_change_nothing_are_left_out() -> None:
    x, ints = torch.randn(4, 6), torch.arange(4)
    layouts = ["non-contiguous", "transposed", "gapped", "unaligned"]
    assert structured_kinds([x]) == [*STRUCTURED, "infinite-rows", *layouts]
    assert structured_kinds([ints]) == ["permuted", "flipped", "regrouped", "non-contiguous", "unaligned"]
    assert structured_kinds([ints.view(2, 2)])[-4:] == layouts and "non-finite" not in structured_kinds([x + 0j])
    assert "channels-last" in structured_kinds([torch.randn(2, 3, 4, 5)])
    assert "alike-rows" in structured_kinds([MASK]) and "reordered" in structured_kinds([torch.randn(2, 3, 4)])
    assert "reordered" not in structured_kinds([torch.randn(1, 3, 4)])
    assert "permuted" in structured_kinds([x, torch.tensor(0.5)])
    assert {"scaled-apart", "one-tensor"} <= set(structured_kinds([x, x]))
    assert "one-tensor" not in structured_kinds([x, x.double(), ints, ints])
    assert "non-contiguous" not in structured_kinds([torch.empty(1 << 13, 1 << 12, device="meta")])
    shapes = [f"shape{i}" for i in range(6)]
    assert other_kinds([x]) == [*shapes, "small"]
    assert other_kinds([x, 0.5, 3]) == [
        *shapes,
        "small",
        "numbers",
        "negated",
        "far-numbers",
        "integers",
        "lesser-integers",
    ]
    assert "longer" in other_kinds([[x, x]]) and "longer" not in other_kinds([[x, x[1:]], x, x])
    assert other_kinds([ints]) == [*shapes[:3], *draws.WHOLE]
    assert other_kinds([torch.randn(4, 4).double()]) == ["shape0", "shape1", "shape2", "axis0", "axis1"]
    assert other_kinds([torch.empty(2, 3, 4, 5, 6).half()]) == [*shapes[:5], "small"]
    assert other_kinds([torch.empty(1 << 14, 1 << 13, device="meta")]) == ["shape0", "shape1", "shape2"]


def test_tensors_in_a_list_have_other_sizes_and_lists_one_more() -> None:
    inputs = [[torch.randn(4, 6), torch.randn(4, 6)], torch.randn(4)]
    task = SimpleNamespace(make_inputs=lambda seed: inputs, where=torch.device("cpu"))
    (x, y), z = make_draw(task, 7, "small", "0")
    assert len(x) == len(y) == len(z) < 4 and x.shape == y.shape and x.shape[1] < 6
    several, z = make_draw(task, 7, "longer", "0")
    assert [one.shape for one in several] == [(4, 6)] * 3 and torch.equal(z, inputs[1])


def test_complex_numbers_are_rows_of_two() -> None:
    x = torch.randn(4, 6, dtype=torch.complex64)
    task = SimpleNamespace(make_inputs=lambda seed: [x], where=torch.device("cpu"))
    assert torch.allclose(make_draw(task, 7, "scaled-up", "0")[0], x * 1e3)
    for kind in structured_kinds([x]):
        (found,) = make_draw(task, 7, kind, "0")
        assert found.dtype == x.dtype and found.shape == x.shape


def test_one_axis_alone_is_longer_or_shorter() -> None:
    seen = set()
    for which in range(2):
        for seed in range(8):
            order, sizes = torch.Generator().manual_seed(1), torch.Generator().manual_seed(seed)
            (x,) = draws.other_axes([torch.randn(5, 5)], which, order, sizes)
            assert (x.shape[0] == 5) != (x.shape[1] == 5)
            seen.add((which, x.shape[0] == 5))
    assert len(seen) == 2  # another axis each time, whatever the sizes


def test_axes_that_two_tensors_share_change_together() -> None:
    product = [torch.randn(4, 4), torch.randn(4, 4)]
    assert draws.axes_to_vary(product) == [
        *[((0, 0),), ((0, 1),), ((1, 0),), ((1, 1),)],
        *[((0, 0), (1, 0)), ((0, 0), (1, 1)), ((0, 1), (1, 0)), ((0, 1), (1, 1))],
    ]
    order = torch.Generator().manual_seed(0)
    found = []
    for which in range(8):
        changed = draws.other_axes(product, which, order.manual_seed(0), torch.Generator().manual_seed(which))
        found.append(tuple((i, axis) for i, x in enumerate(changed) for axis in (0, 1) if x.shape[axis] != 4))
    assert sorted(found) == sorted(draws.axes_to_vary(product))
    assert draws.axes_to_vary([torch.randn(4, 3), torch.randn(4, 2)]) == [((0, 0),), ((1, 0),)]


def test_few_integers_and_truth_values_are_flipped() -> None:
    x, mask, index, number, *_ = made("flipped")
    assert (
        0 < (mask != MASK).sum() <= 4 and (index != torch.arange(8)).sum() <= 4 and number == 2 and x.isfinite().all()
    )


def test_one_of_the_float_tensors_is_scaled_by_itself() -> None:
    seen = set()
    task = SimpleNamespace(make_inputs=lambda _: [torch.ones(3), 7, torch.ones(2)], where=torch.device("cpu"))
    for seed in range(40):
        x, index, y = make_draw(task, 7, "scaled-apart", str(seed))
        assert index == 7 and 1 in (x[0], y[0]) and x[0] != y[0]
        seen |= {float(x[0]), float(y[0])}
    assert seen == {1, 2, 4, 8, 16, 32, 64}


def test_tiny_parameters_are_lifted_and_nothing_else() -> None:
    state = {"weight": torch.randn(4, 4), "scale": torch.full((4,), 1e-6), "bias": torch.zeros(4), "n": torch.tensor(3)}
    lifted = lifted_weights(state, ())
    assert lifted is not None and torch.allclose(lifted["scale"], torch.full((4,), LIFTED))
    assert all(torch.equal(lifted[name], state[name]) for name in ("weight", "bias", "n"))
    assert lifted_weights({"weight": torch.full((4,), 2 * TINY), "lost": torch.tensor(torch.nan)}, ()) is None
    assert lifted_weights(state, {"scale"}) is None  # forward reads it as a number
    other = second_weights(state, 1, ())
    assert other["bias"].any() and float(other["scale"].max()) < 1e-5


def test_second_weights_have_the_signs_that_they_may_have() -> None:
    state = {"gain": torch.ones(6), "variance": torch.ones(6), "weight": torch.randn(4, 4), "steps": torch.tensor(3)}
    second = second_weights(state, 5, (), ["gain", "weight"])
    assert (second["gain"] < 0).sum() == 2 and (second["variance"] > 0).all() and second["steps"] == 3
    assert (second_weights(state, 5, ())["gain"] > 0).all() and (second["weight"] != state["weight"]).all()


def test_two_elements_of_another_parameter_are_nudged_each_time() -> None:
    state = {"scale": torch.ones(16), "weight": torch.randn(16, 16), "bias": torch.zeros(16), "gain": torch.ones(16)}
    state |= {"steps": torch.tensor(3)}
    seen = set()
    for seed in range(30):
        changed = []
        for nudged in nudged_weights(state, seed, ()):
            names = [name for name, value in state.items() if not torch.equal(nudged[name], value)]
            assert all(1 <= int((nudged[name] != state[name]).sum()) <= 2 for name in names)
            changed.append(names)
        assert changed[0] == ["weight"] and len(changed) == NUDGED == 3
        assert [len(names) for names in changed] == [1, 1, 2]  # whatever is left comes in the last one
        assert sorted(sum(changed, [])) == ["bias", "gain", "scale", "weight"]
        seen.add(changed[1][0])
    assert seen == {"scale", "bias", "gain"}
    assert len(nudged_weights(state, 1, (), most=1)[0]) == len(state) and nudged_weights(state, 1, (), most=0) == []
    assert nudged_weights({"scale": torch.ones(3)}, 1, ["scale"]) == []


def test_elements_of_the_state_change_places_and_what_is_no_float_comes_in_another_order() -> None:
    state = {
        "codes": torch.arange(64).to(torch.int8),
        "keep": MASK.clone(),
        "weight": torch.randn(4),
        "steps": torch.tensor(3),
    }
    exchanged, turned = turned_weights(state, 1, ())
    assert (exchanged["weight"] != state["weight"]).any() and exchanged["codes"] is state["codes"]
    assert exchanged["weight"].sort().values.equal(state["weight"].sort().values)
    assert (turned["codes"] != state["codes"]).any() and turned["codes"].sort().values.equal(state["codes"])
    assert (turned["keep"] != MASK).any() and turned["keep"].sum() == MASK.sum()
    assert turned["weight"] is state["weight"] and 0 <= turned["steps"] < 3
    assert turned_weights({"weight": torch.ones(4), "steps": torch.tensor(0)}, 1, ()) == []
    [alone] = turned_weights({"weight": torch.ones(4), "which": torch.tensor([3])}, 1, ())
    assert 0 <= alone["which"] < 3 and alone["which"].shape == (1,) and alone["weight"].equal(torch.ones(4))
    assert turned_weights({"codes": torch.arange(9)}, 1, ["codes"]) == []
    [large] = turned_weights({"weight": torch.randn(100, 100)}, 1, ())
    assert int((large["weight"] != turned_weights(large, 2, ())[0]["weight"]).sum()) <= 16


def test_integers_in_order_are_others_in_order() -> None:
    begins = torch.arange(0, 96, 4)
    for index in range(9):
        other = made("regrouped", index, begins)[-1]
        assert other[0] == 0 and other[-1] == 92 and (other.diff() >= 0).all() and (other != begins).any()
    _, mask, _, number, *_ = made("regrouped", 0, begins)
    assert mask.equal(MASK) and number == 2.0
    assert "regrouped" in structured_kinds([begins]) and "regrouped" not in structured_kinds([begins.flip(0)])
    assert "regrouped" not in structured_kinds([torch.full((9,), 3), MASK, torch.randn(4)])


def test_permuted_makes_some_of_alike_integers_less() -> None:
    other = made("permuted", 0, torch.full((200,), 9))[-1]
    assert 20 < int((other < 9).sum()) < 80 and (other >= 0).all() and (other <= 9).all()
    assert made("permuted", 0, torch.zeros(50, dtype=torch.long))[-1].eq(0).all()


def test_outliers_are_three_elements_at_most() -> None:
    x = torch.randn(64, 64)
    other = STRUCTURED["outliers"](x, torch.Generator().manual_seed(1))
    changed = other != x
    assert 1 <= int(changed.sum()) <= 3 and other[changed].abs().min() >= 32 * x.abs().max()
    assert STRUCTURED["outliers"](x[0, :3], torch.Generator()).equal(x[0, :3])


def test_all_sizes_are_small_at_once() -> None:
    for seed in range(5):
        x, y = draws.all_small([torch.randn(40, 30), torch.randn(30)], torch.Generator().manual_seed(seed))
        assert 2 <= x.shape[0] <= 7 and 2 <= x.shape[1] <= 7 and y.shape[0] == x.shape[1]


def test_integers_are_made_larger_negative_and_ignored() -> None:
    x = torch.tensor([[3, 90], [-7, 0]])
    generator = torch.Generator().manual_seed(0)
    assert draws.WHOLE["larger-integers"](x, generator).tolist() == [[3000, 90000], [-7000, 0]]
    assert draws.WHOLE["larger-integers"](x.to(torch.int8), generator).tolist() == x.tolist()  # as far as the type goes
    assert draws.WHOLE["negative-integers"](x, generator).tolist() == [[-3, -90], [7, 0]]
    some = draws.WHOLE["ignored-integers"](torch.arange(64), generator)
    assert 4 < int((some == -100).sum()) < 40 and ((some == -100) | (some == torch.arange(64))).all()


def test_results_may_lie_as_they_like_on_other_layouts_and_sizes() -> None:
    assert all(map(draws.of_own_layout, ("unaligned", "task", "scaled-up", "numbers", "permuted", "timed")))
    assert not any(map(draws.of_own_layout, ("transposed", "non-contiguous", "reordered", "axis0", "shape12", "small")))
