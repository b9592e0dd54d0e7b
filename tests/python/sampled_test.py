"""The referee where truths are those of slices: budgets as of whole truths, nothing hidden elsewhere, nothing honest far off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from mtmc.referee import elsewhere, slices
from mtmc.referee.budgets import compare
from mtmc.referee.referee import Referee
from mtmc.referee.slices import Slices

FILE = """
import torch
class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(60, 40)
    def forward(self, x):
        return self.inner(x).softmax(-1), x * 1.5
class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv1d(3, 60, 3)
        self.norm = torch.nn.BatchNorm1d(60)
    def forward(self, x):
        return self.norm(self.conv(x.view(50, 3, -1)))
class Inverse(torch.nn.Module):
    def forward(self, x):
        return 1 / (x * 1.1 - 1)
class Loss(torch.nn.Module):
    def forward(self, x):
        return (x * x).mean()
class Drops(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.5)
class Amid(torch.nn.Module):
    def forward(self, x):
        return (x[:, :1] + 1) - x[:, 1:]
class Loses(torch.nn.Module):
    def forward(self, x):
        y = torch.cat([x[:, :1].abs() * torch.inf, x], 1)
        return y if y.dtype == torch.float64 else y + (y - y)
class LosesNumbers(torch.nn.Module):
    def forward(self, x):
        y = torch.nan_to_num(x, 0.0, 0.0, 0.0)
        return y if y.dtype == torch.float64 else y + (torch.inf - torch.full_like(y, torch.inf))
class Overflows(torch.nn.Module):
    def forward(self, x):
        return torch.exp(x * 60 - 60)
class Underflows(torch.nn.Module):
    def forward(self, x):
        large = torch.where(x.abs() < 3, 1e30, 1e-30)
        return torch.cumprod(torch.cat([large * 1e-60, large, large, large, large], 1)[:, ::12], 1)
def get_inputs():
    return [torch.randn(500, 60)]
"""

Open = Callable[..., Referee]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a class of FILE, `large` or not."""
    (tmp_path / "model.py").write_text(FILE)
    monkeypatch.setattr(slices, "ELEMENTS", 1 << 11)
    monkeypatch.setattr(elsewhere, "BLOCK", 1 << 8)

    def open_it(attr: str, large: bool = True, accuracy: str = "eager") -> Referee:
        monkeypatch.setattr(slices, "LARGE_BYTES", 0 if large else 1 << 40)
        task = {"name": "t", "file": str(tmp_path / "model.py"), "attr": attr}
        (tmp_path / "task.json").write_text(json.dumps(task))
        referee = Referee()
        request = {"op": "open", "folder": str(tmp_path), "seed": 1, "device": "cpu", "threads": 1}
        assert "error" not in referee.handle({**request, "accuracy": accuracy})
        return referee

    with torch.no_grad():  # it switches gradients off for itself
        yield open_it


def sliced(referee: Referee, name: str = "task-0") -> Slices:
    found = referee.draw(name).slices
    assert found is not None
    return found


@pytest.mark.parametrize("accuracy", ["eager", "strict", "tf32"])
@pytest.mark.parametrize("attr", ["Linear", "Norm"])
def test_budgets_of_slices_are_those_of_whole_draws(opened: Open, attr: str, accuracy: str) -> None:
    part, whole = (opened(attr, large, accuracy).budgets.of_kind("task") for large in (True, False))
    for mine, theirs in ((part.eager, whole.eager), (part.allowed, whole.allowed)):
        for output in {one["output"] for run in theirs for one in run if one["kind"] == "float"}:
            for key, scale in (("error", 1.0), ("max_error", theirs[0][0]["max_truth"])):
                a, b = (max(o[key] for run in runs for o in run if o["output"] == output) for runs in (mine, theirs))
                limits = [2 * one + 2**-21 * scale for one in (a, b)]
                assert a <= limits[1] and b <= limits[0] and a > b / 8, (output, key)


def test_channels_are_cut_with_what_the_state_holds_of_them(opened: Open) -> None:
    referee = opened("Norm")
    found, draw = sliced(referee), referee.draw("task-0")
    assert found.cut.results == (1,) and found.cut.state["norm.running_mean"] == 0
    rows = {one["output"]: one for one in compare(draw, 1, draw.eager.calls[1], draw.eager.after[1])}
    assert list(rows) == [
        "0",
        *(f"state:norm.{name}" for name in ("running_mean", "running_var", "num_batches_tracked")),
    ]
    assert (
        rows["0"]["compared"] + rows["0"]["elsewhere"]["numel"] == rows["0"]["numel"] == draw.eager.calls[0][0].numel()
    )
    state = {name: value.clone() for name, value in draw.eager.after[1].items()}
    stranger = next(i for i in range(60) if i not in found.places.tolist())
    state["norm.running_mean"][stranger] += 1
    rows = {one["output"]: one for one in compare(draw, 1, draw.eager.calls[1], state)}
    assert rows["state:norm.running_mean"]["elsewhere"]["max_error"] > 0.9


def test_the_truth_of_samples_stays_when_their_draw_is_forgotten(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    referee = opened("Linear")
    draws, found = referee.draws, sliced(referee)
    monkeypatch.setattr(draws, "most_bytes", draws.known["task-0"].bytes)
    referee.draw("task-1")
    assert list(draws.known) == ["task-1"] and draws.samples == {"task-0": found}
    monkeypatch.setattr(draws.sampler, "slices", lambda _: None)
    assert sliced(referee) is found and list(draws.samples) == ["task-1"]
    draws.forget("task-1")
    assert not draws.samples


def limits(referee: Referee, output: str, row: dict) -> tuple[float, float]:
    """What the judge grants elsewhere: to blocks and to elements."""
    runs = [one for run in referee.budgets.of_kind("task").allowed for one in run if one["output"] == output]
    block, largest = (max(one[key] for one in runs) for key in ("block_error", "max_error"))
    other, floor = row["elsewhere"], 2**-21 + 2**-24
    block, largest = max(block, other["eager_error"]), max(largest, other["eager_max_error"])
    return 2 * block + floor + other["eager_error"], 4 * largest + floor * other["max_eager"] + other["eager_max_error"]


def test_a_wrong_tile_is_far_from_eager_and_an_honest_result_is_not(opened: Open) -> None:
    referee = opened("Linear")
    draw, generator = referee.draw("task-0"), torch.Generator().manual_seed(1)
    honest = [value * (1 + 2e-7 * torch.randn(value.shape, generator=generator)) for value in draw.eager.calls[0]]
    for output, row in zip("01", compare(draw, 0, honest, {}), strict=True):
        block, largest = limits(referee, output, row)
        assert row["elsewhere"]["error"] <= block and row["elsewhere"]["max_error"] <= largest
    for output, value in enumerate(honest):
        for _ in range(25):
            start = int(torch.randint(0, value.numel() - 128, (), generator=generator))
            wrong = value.clone()
            wrong.view(-1)[start : start + 128] *= 1 + 1e-3
            row = compare(draw, 0, [*honest[:output], wrong, *honest[output + 1 :]], {})[output]
            block, largest = limits(referee, str(output), row)
            inside = row["max_error"] > largest
            assert inside or row["elsewhere"]["error"] > block and row["elsewhere"]["max_error"] > largest


def test_results_beyond_the_range_of_squares_are_measured_in_json(opened: Open) -> None:
    """Memory that nobody wrote to holds numbers whose squares are no fp32: a reply has neither infinity nor NaN."""
    referee = opened("Linear")
    draw = referee.draw("task-0")
    unwritten = [torch.full_like(value, -1.7e38) for value in draw.eager.calls[0]]
    rows = compare(draw, 0, unwritten, {})
    json.dumps(rows, allow_nan=False)
    assert all(row["elsewhere"]["error"] is None for row in rows)


def test_what_is_far_from_eager_gets_its_truth(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that is exact where eager is not."""
    monkeypatch.setattr(slices, "LARGEST", 0)
    referee = opened("Inverse")
    draw = referee.draw("task-0")
    known = len(sliced(referee).places)
    run = referee.reference.run_samples(draw.eager, lambda x: x.double())
    exact, _ = run(draw.arguments, draw.state)
    (row,) = compare(draw, 0, [exact[0][0].float()], {})
    assert row["compared"] > known * 60 and row["error"] < 1e-7 < row["elsewhere"]["eager_error"]


@pytest.mark.parametrize("attr", ["Loss", "Drops"])
def test_what_cannot_be_cut_has_its_whole_truth(opened: Open, attr: str) -> None:
    draw = opened(attr).draw("task-0")
    assert draw.slices is None and draw.truth.calls[0][0].shape == draw.eager.calls[0][0].shape


def test_other_shapes_types_and_values_that_are_not_finite(opened: Open) -> None:
    referee = opened("Amid")
    draw = referee.draw("non-finite-0")
    eager = draw.eager.calls[0][0]
    (row,) = compare(draw, 0, [eager[:-1]], {})
    assert row["mismatch"] == "wrong-shape"
    (row,) = compare(draw, 0, [eager.double()], {})
    assert row["mismatch"] == "wrong-dtype"
    (row,) = compare(draw, 0, [eager.nan_to_num()], {})
    assert row["mismatched"] == int((~eager.isfinite()).sum()) > 0 and row["nonfinite"] == 0
    (row,) = compare(draw, 0, [torch.full_like(eager, torch.inf)], {})
    assert row["nonfinite"] == int(eager.isfinite().sum())


def test_what_eager_alone_loses_may_be_as_it_is_defined(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """An infinity that eager subtracts from itself, in more samples than get their truth one by one."""
    monkeypatch.setattr(slices, "LARGEST", 0)
    referee = opened("Loses")
    draw = referee.draw("non-finite-0")
    assert len(sliced(referee, "non-finite-0").places) < 250
    run = referee.reference.run_samples(draw.eager, lambda x: x.double())
    right = run(draw.arguments, draw.state)[0][0][0].float()
    for result in (draw.eager.calls[0][0], right):
        (row,) = compare(draw, 0, [result], {})
        assert row["mismatched"] == row["nonfinite"] == 0
    for value in (0.0, -torch.inf):
        (row,) = compare(draw, 0, [right.index_put((torch.tensor(211), torch.tensor(0)), torch.tensor(value))], {})
        assert row["mismatched"] > 0
    (row,) = compare(draw, 0, [torch.where(right.isfinite(), right, 0.0)], {})
    assert row["mismatched"] > 0


def test_a_truth_that_is_too_large_for_the_type_is_an_infinity(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eager's running products have become 0 and stay so."""
    monkeypatch.setattr(slices, "LARGEST", 0)
    referee = opened("Underflows")
    draw = referee.draw("task-0")
    eager = draw.eager.calls[0][0]
    run = referee.reference.run_samples(draw.eager, lambda x: x.double())
    truth = run(draw.arguments, draw.state)[0][0][0]
    right = truth.float()
    assert eager.isfinite().all() and right[211].isinf().any()
    for result in (eager, right):
        (row,) = compare(draw, 0, [result], {})
        assert row["mismatched"] == row["nonfinite"] == 0
    for value in (-torch.inf, torch.nan):
        (row,) = compare(draw, 0, [right.where(right.isfinite(), torch.tensor(value))], {})
        assert row["nonfinite"] > 0
    (row,) = compare(draw, 0, [right.index_put((torch.tensor(211), torch.tensor(0)), torch.tensor(torch.inf))], {})
    assert row["nonfinite"] > 0


def test_where_both_are_too_large_for_the_type_only_that_infinity_is_right(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LARGEST", 0)
    referee = opened("Overflows")
    draw = referee.draw("task-0")
    eager = draw.eager.calls[0][0]
    (row,) = compare(draw, 0, [eager], {})
    assert row["mismatched"] == row["nonfinite"] == 0 and eager.isinf().any()
    for value in (torch.nan, -torch.inf, 3.0):
        (row,) = compare(draw, 0, [eager.where(eager.isfinite(), torch.tensor(value))], {})
        assert row["mismatched"] > 0


def test_what_eager_alone_loses_of_numbers_is_that_number(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither any other number nor an infinity."""
    monkeypatch.setattr(slices, "LARGEST", 0)
    referee = opened("LosesNumbers")
    draw = referee.draw("non-finite-0")
    right = torch.nan_to_num(draw.arguments[0], 0.0, 0.0, 0.0)
    for result in (draw.eager.calls[0][0], right):
        (row,) = compare(draw, 0, [result], {})
        assert row["mismatched"] == row["nonfinite"] == 0
    wrong = [right.index_put((torch.tensor(211), torch.tensor(0)), torch.tensor(v)) for v in (123.0, torch.inf)]
    for result in (*wrong, torch.zeros_like(right)):
        (row,) = compare(draw, 0, [result], {})
        assert row["mismatched"] > 0


def test_nulls_are_measured_where_the_truth_is_known(opened: Open) -> None:
    referee = opened("Linear")
    for draw in ("task-0", "task-1"):
        nulls = referee.on_nulls({"nulls": ["zeros", "constant"], "draw": draw, "first": "task-0"})["nulls"]
        assert list(nulls) == ["zeros", "constant"] and all(row["error"] > 0.1 for row in nulls["zeros"])


def test_a_memory_that_is_full_for_once_makes_a_slice_smaller_and_no_truth_whole(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    referee = opened("Linear")
    sampler, draw = referee.draws.sampler, referee.draw("task-0")
    usual, tried = slices.sliced_truth, []

    def once_full(*given: object) -> Slices:
        tried.append(given[-1])
        if len(tried) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return usual(*given)

    monkeypatch.setattr("mtmc.referee.sampled.sliced_truth", once_full)
    found = sampler.slices(draw)
    assert tried == [slices.ELEMENTS, 0] and len(found.places) < len(draw.slices.places)
    assert all(cut is not None for cut in sampler.cuts.values())
