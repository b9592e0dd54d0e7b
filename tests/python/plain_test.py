"""Plain tensor attributes: found, put back, followed through a call, and lent to a candidate as any other state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.guest import candidate
from mtmc.referee.reference import Reference
from mtmc.referee.truth import widen
from mtmc.referee.weights import second_weights
from mtmc.task.task import load_task
from mtmc.wire.forms import form_of
from mtmc.wire.plain import Attributes, changed_by, get, is_plain, load_state, plain_tensors, put
from traced_modules import module_text

CELL = """
import torch
class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 3)
        self.state = (torch.zeros(3), [torch.ones(3)][0])
        self.drawn = torch.randn(3)
        self.fixed = torch.arange(3.0)
        self.register_buffer("eps", torch.tensor(2.0))
        self.seen = None
    def forward(self, x):
        h, c = self.state
        h = torch.tanh(self.net(x) + h) / self.eps.item()
        self.state = (h, c * self.drawn + self.fixed)
        self.seen = h
        return h
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell()
        self.calls = torch.zeros(())
    def forward(self, x):
        self.calls += 1
        return self.cell(x) * self.calls
def get_inputs():
    return [torch.randn(2, 3)]
"""


@pytest.fixture
def reference(tmp_path: Path) -> Reference:
    (tmp_path / "model.py").write_text(CELL.replace("torch.zeros(3), [", "torch.zeros(2, 3), ["))
    with torch.no_grad():
        return Reference(load_task({"name": "t", "file": str(tmp_path / "model.py")}), 1, device_named("cpu"))


def test_keys_values_and_changes() -> None:
    model = torch.nn.Sequential(torch.nn.LSTM(2, 2), torch.nn.Linear(2, 2))
    assert plain_tensors(model) == {}  # what an LSTM lists are its parameters
    inner = model[1]
    inner.h, inner.pair, inner.nested = torch.zeros(2), [torch.ones(1), torch.ones(2)], {"a": torch.ones(1)}
    assert list(plain_tensors(model)) == [".1.h", ".1.pair.0", ".1.pair.1"]
    assert all(map(is_plain, plain_tensors(model))) and not is_plain("1.weight")

    def call() -> None:
        inner.h.add_(1)
        inner.pair = [inner.pair[0], inner.pair[1] * 2]
        inner.late = inner.h

    attributes = Attributes(model)
    assert changed_by(model, call) == [".1.h", ".1.pair.1"]
    attributes.restore()
    assert not hasattr(inner, "late") and torch.equal(inner.pair[1], torch.ones(2))
    put(model, {".1.pair.0": torch.full((1,), 7.0)})
    assert type(inner.pair) is list and get(model, ".1.pair.0") is inner.pair[0] and inner.pair[0] == 7
    assert get(model, ".1.pair.2") is None and get(model, ".1.late") is None
    given = {**model.state_dict(), ".1.h": torch.full((2,), 5.0)}
    load_state(model, given)
    assert torch.equal(inner.h, given[".1.h"]) and inner.h is not given[".1.h"]


def test_buffers_that_are_not_persistent_are_among_them() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    cell = model[0]
    for name, value in {"cache": torch.zeros(2), "mask": None, "mean": model[1].running_mean}.items():
        cell.register_buffer(name, value, persistent=False)
    cell.view = cell.cache  # another name, which no value may part from it
    cache = cell.cache
    assert list(plain_tensors(model)) == [".0.cache"]  # the mean is state by its name in the state_dict

    def call() -> None:
        cell.cache = torch.cat([cell.cache, torch.ones(1)])
        cell.register_buffer("late", torch.ones(1), persistent=False)
        cell.mask = torch.ones(2)

    attributes = Attributes(model)
    assert changed_by(model, call) == [".0.cache"] and get(model, ".0.cache").shape == (3,)
    attributes.restore()
    assert not hasattr(cell, "late") and cell.mask is None and cell.cache is cache
    load_state(model, {**model.state_dict(), ".0.cache": torch.ones(2)})
    assert cell.view is cell.cache is cache and torch.equal(cache, torch.ones(2))
    load_state(model, {**model.state_dict(), ".0.cache": torch.ones(5)})
    assert torch.equal(cell.cache, torch.ones(5)) and "cache" not in vars(cell)
    cell.cache = torch.ones(1).expand(5)
    load_state(model, {**model.state_dict(), ".0.cache": torch.arange(5.0)})
    assert torch.equal(cell.cache, torch.arange(5.0))


def test_the_reference_knows_which_of_them_are_state(tmp_path: Path) -> None:
    init = (
        "for name, value in [('cache', torch.zeros(4, 8)), ('hidden', torch.zeros(4, 8)), ('drawn', torch.randn(8)),\n"
        "        ('table', torch.ones(8)), ('scale', torch.rand(()) + 1)]:\n"
        "    self.register_buffer(name, value, persistent=False)"
    )
    forward = (
        "self.cache.add_(x)\nself.hidden.data.add_(1)\nreturn self.cache * self.drawn * self.table * self.scale.item()"
    )
    (tmp_path / "model.py").write_text(module_text(forward, init))
    with torch.no_grad():
        made = Reference(load_task({"name": "t", "file": str(tmp_path / "model.py")}), 1, device_named("cpu"))
        runs = [made.run_eager([torch.ones(4, 8)], made.pristine, 3) for _ in range(2)]
        truth = made.run_truth([torch.ones(4, 8)], made.pristine, runs[0], widen)
    assert made.plain == [".cache", ".drawn", ".hidden", ".scale"] and made.scalars.names == {".scale"}
    for run in runs:
        assert torch.equal(run.state[".cache"], torch.full((4, 8), 2.0)) and list(run.state) == [".cache", ".hidden"]
    assert truth.state[".cache"].dtype == torch.float64 and torch.equal(truth.calls[1][0].float(), runs[0].calls[1][0])
    other = second_weights(made.pristine, 1, made.scalars.names)
    assert torch.equal(other[".scale"], made.pristine[".scale"]) and not torch.equal(
        other[".drawn"], made.pristine[".drawn"]
    )


def test_hooks_that_a_call_installed_go_with_the_flag_that_says_so() -> None:
    class Hooked(torch.nn.Linear):  # as transformers' models do in their first call
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not hasattr(self, "installed"):
                self.installed = self.register_forward_hook(lambda module, given, result: result + 1)
            return super().forward(x)

    model, x = Hooked(2, 2), torch.ones(2)
    attributes, first = Attributes(model), model(x)
    attributes.restore()
    assert not model._forward_hooks and not hasattr(model, "installed")
    assert torch.equal(model(x), first) and len(model._forward_hooks) == 1


def test_the_reference_starts_each_draw_from_the_same_state(reference: Reference) -> None:
    assert reference.plain == [".calls", ".cell.drawn", ".cell.state.0", ".cell.state.1"]
    with torch.no_grad():
        runs = [reference.run_eager([torch.ones(2, 3)], reference.pristine, 3) for _ in range(2)]
        truth = reference.run_truth([torch.ones(2, 3)], reference.pristine, runs[0], widen)
    assert list(runs[0].state) == [".calls", ".cell.state.0", ".cell.state.1"]
    assert runs[0].state[".calls"] == 2 and not torch.equal(runs[0].calls[0][0], runs[0].calls[1][0])
    for one, two in zip(runs[0].calls, runs[1].calls, strict=True):
        assert torch.equal(one[0], two[0])
    assert torch.allclose(truth.state[".cell.state.1"].float(), runs[0].state[".cell.state.1"])
    assert truth.state[".calls"].dtype == torch.float64 and reference.model.cell.seen is not None


def test_numbers_that_forward_reads_keep_their_value_when_weights_change(reference: Reference) -> None:
    assert reference.scalars.names == {"cell.eps"}
    other = second_weights(reference.pristine, 1, reference.scalars.names)
    assert other["cell.eps"] == 2 and not torch.equal(other[".cell.drawn"], reference.pristine[".cell.drawn"])


def test_a_candidate_has_its_attributes_lent_and_measured_and_may_do_without(reference: Reference) -> None:
    model = reference.task.make_model(7)
    forms = {name: form_of(value) for name, value in reference.pristine.items()}
    how, names = candidate.match(model, forms)
    candidate.load_weights(model, reference.pristine, names)
    assert how == "by-name" and set(names) == set(reference.pristine)

    def now() -> dict[str, torch.Tensor]:
        return {name: table[key] for name, (table, key) in entries.items()}

    entries = candidate.entries_of(model, names)  # found before a call, and asked behind it
    before = now()
    assert all(torch.equal(before[name], value) for name, value in reference.pristine.items())
    with torch.no_grad():
        model(torch.ones(2, 3))
    assert now()[".calls"] == 1 and reference.pristine[".calls"] == 0
    assert torch.equal(now()[".cell.state.0"], model.cell.state[0])
    for in_place in (True, False):
        state = {name: value.clone() for name, value in reference.pristine.items()}
        candidate.assign(model, state, names, in_place)
        assert now()[".calls"] == 0
        model.calls += 1
    del model.calls
    model.register_buffer("calls", torch.ones(()))  # as well as an attribute
    assert candidate.match(model, forms) == ("by-name", names | {".calls": "calls"})
    candidate.load_weights(model, reference.pristine, names | {".calls": "calls"})
    assert model.calls == 0
    del model.calls
    _, names = candidate.match(model, forms)
    assert ".calls" not in names and ".calls" not in candidate.entries_of(model, names)
    candidate.assign(model, reference.pristine, names, in_place=False)


def test_a_candidate_is_built_without_the_weights_it_will_get(tmp_path: Path) -> None:
    text = "import torch\nclass ModelNew(torch.nn.Linear):\n    def __init__(self):\n        super().__init__(2048, 2048)\n"
    (tmp_path / "kernel.py").write_text(text)
    (tmp_path / "init.pickle").write_bytes(__import__("pickle").dumps(([], {})))
    (tmp_path / "hidden").write_text(json.dumps("none"))
    cls = candidate.import_candidate(tmp_path / "kernel.py")
    state = {"weight": torch.ones(2048, 2048), "bias": torch.ones(2048)}
    cpu = torch.device("cpu")
    drawn = candidate.construct(cls, tmp_path, tmp_path / "kernel.py", 1, cpu, {}).weight
    assert drawn.abs().max() > 0 and len(drawn[0].unique()) > 1000
    model = candidate.construct(cls, tmp_path, tmp_path / "kernel.py", 1, cpu, state)
    assert not torch.equal(model.weight, drawn)
    candidate.load_weights(model, state, {name: name for name in state})
    assert torch.equal(model.weight, state["weight"])
