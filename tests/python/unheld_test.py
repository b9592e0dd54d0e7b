"""What a constructor draws at random and no state holds is told to the user where results depend on it, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.reference import Reference
from mtmc.task.task import load_task
from mtmc.wire.task_error import TaskError
from traced_modules import module_text
from tracing import refused, traced

WRONG = "what forward returns depends on what differs from one construction to the next, and nobody can set it"
CASES = {
    "dict": ("self.w = {'a': torch.randn(8)}", "return x * self.w['a']", "w: a dict of 1"),
    "tuples": ("self.w = [(torch.randn(8), torch.ones(8))]", "return x * self.w[0][0]", "w: a list of 1"),
    "number": ("self.w = torch.rand(()).item() + 1", "return x * self.w", "w: 1."),
    "order": ("self.w = torch.randperm(8).tolist()", "return x[:, self.w]", "w: a list of 8"),
}
FREE = {
    "list": ("self.w = [torch.randn(8), torch.ones(8)]", "return x * self.w[0] + self.w[1]"),
    "buffer": ("self.register_buffer('w', torch.randn(8), persistent=False)", "return x * self.w"),
    "own seed": (
        "self.w = {'a': torch.randn(8, generator=torch.Generator().manual_seed(3))}",
        "return x * self.w['a']",
    ),
    "unused": ("self.w = {'a': torch.randn(8)}", "return x * 2"),
    "random": ("self.w = torch.rand(()).item()", "return torch.dropout(x, 0.5, True)"),
}


def reference(folder: Path, text: str) -> Reference:
    (folder / "model.py").write_text(text)
    return Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))


@pytest.mark.parametrize("name", CASES)
def test_what_decides_about_results_is_named(tmp_path: Path, name: str) -> None:
    init, body, got = CASES[name]
    with pytest.raises(TaskError, match="judging t: " + WRONG) as told:
        reference(tmp_path, module_text(body, init))
    assert told.value.got.startswith(got)


@pytest.mark.parametrize("name", FREE)
def test_what_can_be_set_or_decides_about_nothing_may_be_drawn(tmp_path: Path, name: str) -> None:
    init, body = FREE[name]
    reference(tmp_path, module_text(body, init))


def test_a_trace_says_so_too(tmp_path: Path) -> None:
    init, body, _ = CASES["dict"]
    assert refused(tmp_path, module_text(body, init)).wrong == WRONG
    assert traced(tmp_path, module_text(*reversed(FREE["own seed"])))["checked"]


def test_tensors_that_hold_nothing_to_compare_are_passed_by(tmp_path: Path) -> None:
    init = (
        "self.w = {'a': torch.empty(3, device='meta'), 'b': torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])}"
    )
    made = reference(tmp_path, module_text("return x * 2", init))
    assert torch.equal(made.model(torch.ones(4, 8)), torch.full((4, 8), 2.0))
