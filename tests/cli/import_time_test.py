"""What depends on no argument is made when the file is imported, and never handed to a caller who could write to it."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        mask = x.new_zeros(8, 8)
        mask[:4, 4:] = 1
        mask[4:, :4] = 2
        away = mask.reshape(4, 2, 8).transpose(1, 2).reshape(4, 16)
        away = (away.unsqueeze(1) - away.unsqueeze(2)).masked_fill(away.unsqueeze(1) != 0, -100.0)
        rows = torch.arange(16, device=x.device)
        late = rows[:, None] > rows[None, :]
        left, right = torch.stack([rows, rows.flip(0)], 1).double().split(1, 1)
        far, near = (left * right).float().reshape(4, 4).t().max(0)
        x = x + (far + near).repeat(4)
        return torch.where(late, x + away, torch.full_like(x, -1.0)), torch.arange(3, device=x.device).view(3, 1)

def get_inputs():
    return [torch.randn(4, 16, 16)]
"""


SECOND_RESULT = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        _, places = torch.arange(12, device=x.device).float().reshape(4, 3).t().max(0)
        return torch.sin(x) * places.expand(4, 4).t()

def get_inputs():
    return [torch.randn(4, 4)]
"""


def apply(folder: Path, task: str, *words: str) -> str:
    (folder / "task.py").write_text(task)
    argv = [str(BINARY), "apply", str(folder / "task.py"), *words]
    environment = {**os.environ, "MTMC_PYTHON": sys.executable}
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=300, env=environment).stdout


def models(folder: Path) -> list[torch.nn.Module]:
    """The task's and the kernel's."""
    made = []
    for path, name in ((folder / "task.py", "Model"), (folder / "kernel.py", "ModelNew")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        made.append(getattr(module, name)())
    return made


@pytest.mark.parametrize("way", ["cpu", "triton"])
def test_results_are_eagers_whatever_a_caller_did_to_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "triton":
        pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    apply(tmp_path, TASK, "--target", way, "--brief", "--write", str(tmp_path / "kernel.py"))
    text = (tmp_path / "kernel.py").read_text()
    forward = text[text.index("def forward") :]
    assert "torch.arange(0, 3" in forward, "what is returned is made in each call"
    assert forward.count("  # ") <= 6, forward  # both sums with x, where, and what is returned
    both = models(tmp_path)
    for _ in range(2):
        x = torch.randn(4, 16, 16)
        with torch.no_grad():
            wanted, got = (model(x) for model in both)
        torch.testing.assert_close(got, wanted, rtol=0, atol=0)
        for tensor in got:
            tensor.fill_(7)


def test_a_kernel_of_ours_reads_a_second_result_in_order(tmp_path: Path) -> None:
    words = ("--target", "cpu")
    action = re.search(r"^ *(lower(?: %\d+)+) +lower mul", apply(tmp_path, SECOND_RESULT, *words), re.MULTILINE)
    assert action is not None
    apply(tmp_path, SECOND_RESULT, *words, "--brief", "--do", action[1], "--write", str(tmp_path / "kernel.py"))
    assert re.search(r"^_c\d+ = _c\d+\.contiguous\(\)$", (tmp_path / "kernel.py").read_text(), re.MULTILINE)
    x = torch.randn(4, 4)
    with torch.no_grad():
        wanted, got = (model(x) for model in models(tmp_path))
    torch.testing.assert_close(got, wanted)
