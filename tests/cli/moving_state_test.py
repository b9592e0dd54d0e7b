"""Networks in training: printed modules leave the same statistics behind as eager, by library calls and in a captured graph."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
TASK = """
import torch

MODE = "train"

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        norms = [torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.BatchNorm1d(4, momentum=0.3), torch.nn.BatchNorm1d(4, affine=False)]
        self.body = torch.nn.Sequential(*norms)

    def forward(self, x):
        return self.body(self.body(x)) + self.body[0].running_mean

def get_inputs():
    return [torch.randn(8, 4)]
"""
ONCE = TASK.replace("self.body(self.body(x)) + self.body[0].running_mean", "self.body(x)")


def printed(folder: Path, task: str, *more: str) -> str:
    (folder / "task.py").write_text(task)
    argv = [str(BINARY), "apply", str(folder / "task.py"), *more]
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "MTMC_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("target", ["cpu", "triton"])
@pytest.mark.parametrize("task", [TASK, ONCE], ids=["twice", "once"])
def test_two_calls_leave_what_eager_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, target: str
) -> None:
    if target == "triton":
        pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    words = ["--target", target, "--write", str(tmp_path / "kernel.py")]
    said = printed(tmp_path, task, *words)
    expect_what_eager_leaves(tmp_path, captured=False)
    if target == "triton":
        found = re.search(r"^ *(capture(?: %\d+)+)", said, re.MULTILINE)
        assert found is not None
        printed(tmp_path, task, *words, "--do", found[1], "--brief")
        expect_what_eager_leaves(tmp_path, captured=True)


def expect_what_eager_leaves(folder: Path, captured: bool) -> None:
    eager, made = imported(folder / "task.py").Model(), imported(folder / "kernel.py").ModelNew()
    assert ("_run(self" in (folder / "kernel.py").read_text()) == captured
    for model in (eager, made):
        with torch.no_grad():  # with gaps: no copy of it may be what moves
            model.body[0].running_mean = torch.arange(8.0)[::2]
    for _ in range(2):
        x = torch.randn(8, 4)
        with torch.no_grad():
            torch.testing.assert_close(made(x), eager(x))
        torch.testing.assert_close(made.state_dict(), eager.state_dict())
    assert eager.body[0].num_batches_tracked > 0
