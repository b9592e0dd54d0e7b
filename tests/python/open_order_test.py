"""Equal values, whose order torch leaves open: what hangs on it is eager's, or that of who comes first."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.budgets import Draw, compare, compare_calls
from mtmc.referee.open_order import compare_in_order, in_other_order
from mtmc.referee.reference import Reference
from mtmc.referee.truth import widen
from mtmc.task.task import load_task

ROUTES = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        values, places = x.topk(3, dim=-1)
        return values, places, torch.zeros_like(x).scatter(-1, places, values)
def get_inputs():
    return [torch.randint(0, 4, (64, 40)).float()]
"""


UNSORTED = ROUTES.replace("dim=-1)\n", "dim=-1, sorted=False)\n", 1)


def made(tmp_path: Path, text: str, numbers: int = 4) -> Draw:
    (tmp_path / "model.py").write_text(text)
    (tmp_path / "task.json").write_text(json.dumps({"name": "t", "file": str(tmp_path / "model.py"), "attr": "Model"}))
    reference = Reference(load_task(tmp_path / "task.json"), 1, device_named("cpu"))
    arguments = [torch.randint(0, numbers, (64, 40), generator=torch.Generator().manual_seed(3)).float()]
    arguments[0][:2] = torch.nan
    with torch.no_grad():
        eager = reference.run_eager(arguments, {}, 0)
        truth = reference.run_truth(arguments, {}, eager, widen)
    return Draw(arguments, 0, {}, eager, truth, reorder=partial(in_other_order, reference))


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    return made(tmp_path, ROUTES)


def returned(draw: Draw, places: torch.Tensor, marked: torch.Tensor) -> list[torch.Tensor]:
    values = draw.arguments[0].gather(-1, places)
    return [values, places, torch.zeros(64, 40).scatter(-1, marked, draw.arguments[0].gather(-1, marked))]


def wrong(draw: Draw, leaves: list[torch.Tensor]) -> bool:
    *_, marks = compare_in_order(draw, 0, leaves, {})
    return marks["error"] > 1e-6 or marks["mismatched"] > 0


def test_the_truth_has_the_order_that_eager_has(draw: Draw) -> None:
    (run,) = compare_calls(draw, draw.eager.calls[:1], draw.eager.after)
    assert [one.get("error", 0) for one in run] == [0, 0, 0]


@torch.no_grad()
def test_one_of_two_orders_passes_and_no_third(draw: Draw) -> None:
    x = draw.arguments[0]
    first = x.sort(dim=-1, descending=True, stable=True).indices[:, :3]
    last = 39 - x.flip(-1).sort(dim=-1, descending=True, stable=True).indices[:, :3]
    eager = draw.eager.calls[0]
    assert not torch.equal(eager[2], returned(draw, first, first)[2])  # they can be told apart
    assert not wrong(draw, eager) and not wrong(draw, returned(draw, first, first))
    half = torch.where(torch.arange(64)[:, None] < 32, first, last)
    assert wrong(draw, returned(draw, last, last)) and wrong(draw, returned(draw, first, half))


@torch.no_grad()
def test_what_need_not_be_sorted_may_be(tmp_path: Path) -> None:
    draw = made(tmp_path, UNSORTED, 30)
    x = draw.arguments[0]
    first = x.sort(dim=-1, descending=True, stable=True).indices[:, :3]
    eager = draw.eager.calls[0]
    assert not torch.equal(eager[0].nan_to_num(), x.gather(-1, first).nan_to_num())
    for leaves in (eager, returned(draw, first, first)):
        values, places, marks = compare_in_order(draw, 0, leaves, {})
        assert (values["error"], places["gap"], places["repeated"], marks["error"]) == (0, 0, 0, 0)
    assert compare_in_order(draw, 0, [x.gather(-1, first.flip(-1)), *eager[1:]], {})[0]["error"] > 0.01


@torch.no_grad()
def test_unsorted_places_alone_may_be_sorted(tmp_path: Path) -> None:
    draw = made(tmp_path, UNSORTED.replace("return values, places, ", "return places, "), 30)
    first = draw.arguments[0].sort(dim=-1, descending=True, stable=True).indices[:, :3]
    leaves = returned(draw, first, first)[1:]
    assert compare_in_order(draw, 0, leaves, {})[0]["gap"] == 0


@torch.no_grad()
def test_the_other_order_is_not_bit_for_bit_eagers(draw: Draw) -> None:
    first = draw.arguments[0].sort(dim=-1, descending=True, stable=True).indices[:, :3]
    assert not compare_in_order(draw, 0, returned(draw, first, first), {})[2]["exact"]
    assert compare(draw, 0, draw.eager.calls[0], {})[2]["exact"]
