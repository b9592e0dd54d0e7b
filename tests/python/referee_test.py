"""The referee: what it compares by which rule, and what it says when the memory is full."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from mtmc import blobs
from mtmc.baseline import Baseline
from mtmc.referee import Referee

MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
    def forward(self, x):
        return self.norm(x)
def get_inputs():
    return [torch.randn(8, 4)]
"""


PERMUTES = """
import random
import torch
class Model(torch.nn.Module):
    def forward(self, order, mask, count, scale):
        return torch.arange(64)[order] * mask * count * scale
def get_inputs():
    return [torch.randperm(64), torch.rand(64) < 0.5, random.randrange(1 << 30), torch.full((), 2.0)]
"""


ROUNDS = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return (x * 1e4 + 1e-3).sum().item()
def get_inputs():
    return [torch.randn(4096)]
"""


@pytest.fixture
def referee(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Referee]:
    (tmp_path / "model.py").write_text(getattr(request, "param", MODEL))
    (tmp_path / "task.json").write_text(json.dumps({"name": "t", "file": str(tmp_path / "model.py"), "attr": "Model"}))
    referee, threads = Referee(), torch.get_num_threads()
    request = {
        "op": "open",
        "folder": str(tmp_path),
        "seed": 1,
        "accuracy": "eager",
        "device": "cpu",
        "threads": threads,
    }
    with torch.no_grad():  # it switches gradients off for itself
        assert "error" not in referee.handle(request)
        yield referee


@pytest.mark.parametrize(("element", "mismatched"), [(1.0, 1), (math.inf, 0)])
def test_a_statistic_may_be_lost_otherwise_only_after_arguments_that_are_not_finite(
    referee: Referee, element: float, mismatched: int
) -> None:
    draw = referee._draw("task-0")
    draw.arguments[0][0, 0] = element
    for state in (draw.eager.state, draw.truth.state):
        state["norm.running_mean"][0] = math.inf
    lost = draw.eager.state["norm.running_mean"].clone()
    lost[0] = math.nan
    found = referee._compare(draw, 0, draw.eager.calls[0], {**draw.eager.state, "norm.running_mean": lost})
    (of_the_mean,) = (one for one in found if one["output"] == "state:norm.running_mean")
    assert of_the_mean["mismatched"] == mismatched


def written(referee: Referee, name: str, kept: dict[str, list]) -> list:
    """The arguments of a timed call as the timed process reads them."""
    assert "seed" in referee.handle({"op": "arguments", "name": name, "large": True})
    return blobs.load_over(referee.folder / "draws" / name, kept)


@pytest.mark.parametrize("referee", [PERMUTES], indirect=True)
def test_timed_calls_on_integers_get_draws_of_their_own(referee: Referee) -> None:
    kept: dict[str, list] = {}
    names = ["timed-3", "timed-3~1", "timed-3~2", "timed-4"]
    draws = {name: written(referee, name, kept) for name in names}
    for part in (0, 1, 2):
        assert len({repr(draw[part]) for draw in draws.values()}) == len(names)
    assert all(draw[0].sort().values.tolist() == list(range(64)) for draw in draws.values())
    again = referee._arguments("timed-3~1")  # as it is measured later
    assert blobs.digest(again) == blobs.digest(draws["timed-3~1"])
    assert list(kept) == ["timed-4"] and list(referee.timed) == ["timed-3", "timed-4"]


def test_timed_calls_on_floats_get_a_few_other_elements(referee: Referee) -> None:
    kept: dict[str, list] = {}
    first, second = (written(referee, name, kept) for name in ("timed-3", "timed-3~2"))
    assert int((first[0] != second[0]).sum()) == 1


@pytest.mark.parametrize("referee", [ROUNDS], indirect=True)
def test_a_number_may_err_as_eager_does_and_no_more(referee: Referee) -> None:
    budgets = [one["error"] for run in referee._errors("task").allowed for one in run]
    assert 0 < max(budgets) < 1e-4  # of what eager rounds away
    draw = referee._draw("task-0")
    (found,) = referee._compare(draw, 0, [draw.eager.calls[0][0] * 2], {})
    assert found["kind"] == "float" and math.isclose(found["error"], 1, rel_tol=1e-3)


def full(*_: object) -> dict[str, object]:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nMore about it.")


@pytest.mark.parametrize(
    ("kind", "doing"),
    [(Referee, "computing what the module must return"), (Baseline, "timing the module as it is")],
)
def test_a_full_memory_is_one_sentence(monkeypatch: pytest.MonkeyPatch, kind: type, doing: str) -> None:
    monkeypatch.setattr(kind, "on_full", full, raising=False)
    answer = kind().handle({"op": "full"})
    assert answer == {
        "error": {
            "doing": doing,
            "wrong": "out of memory",
            "got": "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
            "wanted": "smaller arguments, or a GPU with more memory: the judge holds them several times",
        }
    }
