"""What eager's results share memory with, and so what a candidate's may: arguments, what the module holds, earlier results."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.reference import Reference
from mtmc.referee.sharing import Shared
from mtmc.task.task import load_task
from traced_modules import module_text

NEW = "self.hidden = torch.tanh(x + self.hidden)\n"


def shared(folder: Path, body: str, init: str) -> Shared:
    (folder / "model.py").write_text(module_text(body, init, "torch.ones(4, 8)"))
    made = Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))
    x = torch.ones(4, 8)
    return made.run_eager([x], made.pristine, 0).shared


@pytest.mark.parametrize(
    ("body", "arguments", "module", "earlier"),
    [
        ("return x * 2", False, False, False),
        ("return x[1:]", True, False, False),
        ("return self.table", False, True, True),
        ("return self.table[:2]", False, True, True),
        ("return self.held['table']", False, False, True),
        (NEW + "return self.hidden", False, True, False),
        (NEW + "return self.hidden * 2", False, False, False),
        ("self.hidden.add_(x)\nreturn self.hidden", False, True, True),
        (
            "self.hidden, self.other = self.other, self.hidden\nself.hidden.add_(x)\nreturn self.hidden",
            False,
            True,
            True,
        ),
        ("self.kept = self.kept * 2\nreturn self.kept", False, True, False),
    ],
)
def test_what_one_result_shares(tmp_path: Path, body: str, arguments: bool, module: bool, earlier: bool) -> None:
    init = (
        "self.hidden, self.other, self.table = torch.zeros(4, 8), torch.zeros(4, 8), torch.ones(5)\n"
        "self.held = {'table': torch.ones(5)}\nself.register_buffer('kept', torch.ones(3))"
    )
    found = shared(tmp_path, body, init)
    assert (found.arguments, found.module, found.earlier) == ([arguments], [module], [earlier])


@pytest.mark.parametrize(
    ("body", "loose"),
    [
        ("return self.table", False),
        ("return x", True),
        (NEW + "return self.hidden", False),
        ("self.hidden.add_(x)\nreturn self.hidden", True),
        ("self.hidden, self.table = self.table, self.hidden.add_(x)\nreturn self.table", True),
        ("return torch.add(x, 1, out=self.held['sum'])", True),
        ("with torch.inference_mode():\n    return x + 1", False),
    ],
)
def test_what_may_change_while_more_calls_are_made(tmp_path: Path, body: str, loose: bool) -> None:
    init = "self.hidden, self.table = torch.zeros(4, 8), torch.ones(4, 8)\nself.held = {'sum': torch.ones(4, 8)}"
    assert shared(tmp_path, body, init).loose == [loose]


def test_what_a_later_call_writes_to_may_change(tmp_path: Path) -> None:
    init = "self.hidden, self.other = torch.zeros(4, 8), torch.zeros(4, 8)"
    body = "self.hidden, self.other = self.other, self.hidden.add_(x)\nreturn self.hidden"
    assert shared(tmp_path, body, init).loose == [True]


def test_an_old_state_lies_where_the_last_result_lay(tmp_path: Path) -> None:
    found = shared(tmp_path, f"old = self.hidden\n{NEW}return self.hidden, old", "self.hidden = torch.zeros(4, 8)")
    assert found.module == [True, False] and found.earlier == [False, True]
