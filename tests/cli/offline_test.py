"""A search for a GPU on a machine without one: what Triton's interpreter says of the result."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(16, 16, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.relu(self.conv(x))

def get_inputs():
    return [torch.randn(2, 16, 16, 16)]
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_what_is_as_exact_as_a_gpus_eager_is_not_called_wrong(tmp_path: Path) -> None:
    """A GPU convolves in TF32, and so do kernels for it; eager on a CPU does not."""
    (tmp_path / "task.py").write_text(TASK)
    argv = [str(BINARY), "optimize", str(tmp_path / "task.py"), "--target", "triton", "--hardware", "h100"]
    argv += ["--evaluations", "2", "--out", str(tmp_path / "out"), "--store", str(tmp_path / "store.db")]
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "MTMC_PYTHON": sys.executable},
    )
    assert done.returncode == 1, done.stderr  # nothing is certified
    assert "less exact than eager on this CPU, by Triton's interpreter: output 0" in done.stdout, done.stdout
    assert "wrong by" not in done.stdout and "compiled for" in done.stdout


def test_what_was_only_priced_says_so(tmp_path: Path) -> None:
    """The null target runs nothing: its kernel.py shows a Program in comments, and no line calls it certified."""
    (tmp_path / "task.py").write_text(TASK)
    argv = [str(BINARY), "optimize", str(tmp_path / "task.py"), "--target", "null", "--evaluations", "2"]
    argv += ["--out", str(tmp_path / "out"), "--store", str(tmp_path / "store.db")]

    def said(*more: str) -> str:
        env = {**os.environ, "MTMC_PYTHON": sys.executable}
        return subprocess.run([*argv, *more], capture_output=True, text=True, timeout=300, check=True, env=env).stdout

    first = said()
    assert "estimated: nothing was run" in first and "certified" not in first, first
    assert "replaced" not in first, first
    kernel = (tmp_path / "out/kernel.py").read_text()
    assert all(line.startswith("#") for line in kernel.splitlines()) and "# program " in kernel, kernel
    assert "Use it" not in (tmp_path / "out/report.html").read_text()
    (tmp_path / "task.py").write_text(TASK.replace("relu", "tanh"))
    assert "held the result of run 1 (task, null), which is replaced" in said()
