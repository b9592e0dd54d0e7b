"""What lasts from call to call in Python objects is told to the user where results depend on it, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.reference import Reference
from mtmc.task.lasting import objects_of, refuse_lasting
from mtmc.task.task import load_task
from mtmc.wire.task_error import TaskError
from traced_modules import module_text
from tracing import refused

COUNTS = "self.steps += 1\n"
CASES = {
    "counter": ("self.steps = 0", COUNTS + "return x / self.steps", "steps: 0, then 1"),
    "list": ("self.seen = []", "self.seen.append(x)\nreturn sum(self.seen)", "seen: a list of 0, then a list of 1"),
    "cache": (
        "self.cache = None",
        "self.cache = x if self.cache is None else torch.cat([self.cache, x])\nreturn self.cache.sum(0)",
        "cache: None, then a tensor [4, 8]",
    ),
    "buffer": (
        "self.register_buffer('cache', None, persistent=False)",
        "if self.cache is None: self.register_buffer('cache', torch.zeros_like(x), persistent=False)\n"
        "self.cache.mul_(0.5).add_(x)\nreturn self.cache * 2",
        "cache: None, then a tensor [4, 8]",
    ),
    "dict": (
        "self.state = {'h': torch.zeros(8)}",
        "self.state['h'] = self.state['h'] + x.sum(0)\nreturn x + self.state['h']",
        "state: a dict of 1, then a dict of 1",
    ),
}
FREE = {
    "counter": ("self.steps = 0", COUNTS + "return x * 2"),
    "log": ("self.seen = []", "self.seen.append(x)\nreturn x * 2"),
    "table": (
        "self.tables = {}",
        "if len(x) not in self.tables: self.tables[len(x)] = torch.ones(8)\nreturn x + self.tables[len(x)]",
    ),
    "built late": ("self.mask = None", "if self.mask is None: self.mask = torch.ones(8)\nreturn x * self.mask"),
    "registered late": (
        "self.register_buffer('mask', None, persistent=False)",
        "if self.mask is None: self.register_buffer('mask', torch.ones(8), persistent=False)\nreturn x * self.mask",
    ),
    "grows": ("self.cache = torch.zeros(0, 8)", "self.cache = torch.cat([self.cache, x])\nreturn self.cache.sum(0)"),
    "random": ("self.steps = 0", COUNTS + "return torch.dropout(x, 0.5, True)"),
}
INPUTS = "torch.randn(4, 8)"


def reference(folder: Path, init: str, body: str) -> Reference:
    (folder / "model.py").write_text(module_text(body, init, INPUTS))
    return Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))


@pytest.mark.parametrize("name", CASES)
def test_what_decides_about_results_is_named(tmp_path: Path, name: str) -> None:
    init, body, got = CASES[name]
    with pytest.raises(TaskError, match="judging t: what forward returns depends on attributes") as told:
        reference(tmp_path, init, body)
    assert told.value.got == got


@pytest.mark.parametrize("name", FREE)
def test_what_decides_about_nothing_is_nobodys_business(tmp_path: Path, name: str) -> None:
    reference(tmp_path, *FREE[name])


def test_the_module_is_left_as_it_was(tmp_path: Path) -> None:
    made = reference(tmp_path, *FREE["log"])
    before = objects_of(made.model)
    refuse_lasting(made.task, made.model, "judging")
    assert objects_of(made.model) == before


def test_a_state_that_grows_is_judged_from_its_first_shape_on(tmp_path: Path) -> None:
    made = reference(tmp_path, *FREE["grows"])
    x = torch.ones(4, 8)
    for _ in range(2):
        eager = made.run_eager([x], made.pristine, 0, count=3)
        assert [states[".cache"].shape[0] for states in eager.after] == [4, 8, 12]


def test_a_trace_says_so_too(tmp_path: Path) -> None:
    init, body, got = CASES["list"]
    error = refused(tmp_path, module_text(body, init, INPUTS))
    assert error.wrong.startswith("what forward returns depends on attributes") and error.got == got
