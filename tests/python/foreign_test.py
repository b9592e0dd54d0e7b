"""Random numbers that no trace holds are named, with a way out."""

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

FOREIGN = "what forward returns depends on random numbers that are not torch's"
IMPORTS = "import random\nimport numpy as np\n"
CASES = {
    "a coin": ("return x if random.random() < 0.5 else -x", FOREIGN, "those of Python"),
    "a mix": ("w = float(np.random.beta(1.0, 1.0))\nreturn w * x + (1 - w) * x.flip(0)", FOREIGN, "those of numpy"),
    "a generator": (
        "g = torch.Generator().manual_seed(0)\nreturn x + torch.randn(x.shape, generator=g)",
        "forward draws random numbers from a generator of its own",
        "m0.py:10: return x + torch.randn(x.shape, generator=g)",
    ),
    "a seed": (
        "torch.manual_seed(42)\nreturn x + torch.randn_like(x)",
        "forward sets the state of torch's random numbers, which a trace does not hold",
        "m0.py:9: torch.manual_seed(42)",
    ),
    "a fork": (
        "with torch.random.fork_rng(devices=[]):\n    return x + torch.randn_like(x)",
        "forward sets the state of torch's random numbers, which a trace does not hold",
        "m0.py:9: with torch.random.fork_rng(devices=[]):",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_named(tmp_path: Path, name: str) -> None:
    body, wrong, got = CASES[name]
    text = IMPORTS + module_text(body)
    told = refused(tmp_path, text)
    assert (told.wrong, told.got) == (wrong, got) and told.wanted
    if wrong == FOREIGN:
        (tmp_path / "model.py").write_text(text)
        with pytest.raises(TaskError, match="judging t: " + FOREIGN):
            Reference(load_task({"name": "t", "file": str(tmp_path / "model.py")}), 1, device_named("cpu"))


@pytest.mark.parametrize("body", ["random.random()\nreturn x * 2", "return x * 2 if random.random() < 2 else x"])
def test_what_they_do_not_decide_is_traced(tmp_path: Path, body: str) -> None:
    assert traced(tmp_path, IMPORTS + module_text(body))["checked"]


def test_a_generator_of_the_constructor_is_none_of_forwards(tmp_path: Path) -> None:
    init = "self.w = nn.Parameter(torch.randn(8, generator=torch.Generator().manual_seed(1)))"
    assert traced(tmp_path, module_text("return x * self.w", init))["checked"]


@pytest.mark.parametrize("inputs", ["torch.randn(4, 8)", "torch.full((4, 8), random.random())"])
def test_forwards_that_draw_nothing_elsewhere_are_called_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: str
) -> None:
    """Each call more is paid by every task that is opened."""
    calls, linear = list[int](), torch.nn.Linear.forward

    def counted(self: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        calls.append(len(x))
        return linear(self, x)

    monkeypatch.setattr(torch.nn.Linear, "forward", counted)
    text = IMPORTS + module_text("return self.linear(x)", "self.linear = nn.Linear(8, 3)", inputs)
    (tmp_path / "model.py").write_text(text)
    Reference(load_task({"name": "t", "file": str(tmp_path / "model.py")}), 1, device_named("cpu"))
    assert len(calls) == 1
