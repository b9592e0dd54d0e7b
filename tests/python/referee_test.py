"""The referee: what it compares by which rule, and what it says when the memory is full."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

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


@pytest.fixture
def referee(tmp_path: Path) -> Iterator[Referee]:
    (tmp_path / "model.py").write_text(MODEL)
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
        assert referee.handle(request)["mode"] == "train"
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
