"""Tasks are found again: renamed, laid out anew, resized, or written another way; others are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtmc.scan.scan import SEPARATOR, fingerprint
from mtmc.scan.syntax import file_hash, hashes

ORIGINAL = '''
import torch
import torch.nn as nn

class Model(nn.Module):
    """A linear layer, its activation and a norm."""

    def __init__(self, width, hidden):
        super(Model, self).__init__()
        self.fc = nn.Linear(width, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # first the product
        x = self.fc(x)
        x = torch.relu(x) * 0.5
        return self.norm(x)

width = 64
def get_inputs():
    return [torch.randn(8, width)]

def get_init_inputs():
    return [width, 128]
'''

RENAMED = '''
from torch import nn
import torch as th
class Model(nn.Module):
  def __init__(self, n, m):
    super(Model, self).__init__()
    self.projection = nn.Linear(n, m); self.ln = nn.LayerNorm(m, eps=1e-6)
  def forward(self, hidden):
    """Something else."""
    hidden = self.projection(hidden)
    hidden = (th.relu(hidden)) * 0.25
    return self.ln(hidden)
def get_inputs(): return [th.randn(32, 256)]
def get_init_inputs(): return [256, 512]
'''

OTHERWISE = """
import torch
import torch.nn.functional as F

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(48, 16))
        self.b = torch.nn.Parameter(torch.randn(48))
        self.g = torch.nn.Parameter(torch.ones(48))
        self.beta = torch.nn.Parameter(torch.zeros(48))

    def step(self, y):
        return F.layer_norm(y, (48,), self.g, self.beta)

    def forward(self, x):
        return self.step(3.0 * F.relu(self.b + x @ self.w.T))

def get_inputs():
    return [torch.randn(4, 16)]

def get_init_inputs():
    return []
"""


def prints(folder: Path, **texts: str) -> dict[str, Any]:
    found = {}
    for name, text in texts.items():
        path = folder / f"{name}.py"
        path.write_text(text)
        found[name] = fingerprint(path)
        assert not found[name]["unread"], found[name]
    return found


def test_a_renamed_and_reformatted_copy_has_the_same_syntax() -> None:
    assert hashes(ORIGINAL)["Model"] == hashes(RENAMED)["Model"]
    assert hashes(ORIGINAL)["Model"] != hashes(OTHERWISE)["Model"]
    assert file_hash(ORIGINAL) != file_hash(RENAMED)
    assert file_hash(ORIGINAL) == file_hash(ORIGINAL.replace("width", "size").replace("hidden", "inner"))


def test_the_same_operators_are_the_same_graph_however_they_are_written(tmp_path: Path) -> None:
    found = prints(tmp_path, original=ORIGINAL, renamed=RENAMED, otherwise=OTHERWISE)
    assert found["original"]["graphs"] == found["renamed"]["graphs"] == found["otherwise"]["graphs"]


@pytest.mark.parametrize(
    ("before", "after"),
    [("torch.relu(x)", "torch.tanh(x)"), ("return self.norm(x)", "return self.norm(x) + x"), (" * 0.5", " * x")],
)
def test_other_operators_are_another_graph(tmp_path: Path, before: str, after: str) -> None:
    assert before in ORIGINAL
    found = prints(tmp_path, original=ORIGINAL, changed=ORIGINAL.replace(before, after))
    assert found["original"]["graphs"] != found["changed"]["graphs"]
    assert set(found["original"]["syntax"]).isdisjoint(found["changed"]["syntax"])


def test_what_tests_call_is_a_graph_too(tmp_path: Path) -> None:
    code = "import torch\n\ndef scaled_relu(x, s):\n    return torch.relu(x) * s\n"
    tests = "\ndef test_it():\n    return scaled_relu(torch.randn(4, 4, device='cuda'), torch.ones(4, 4).cuda())\n\ntest_it()\n"
    module = (
        "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, a, b):\n"
        "        return b * a.contiguous().relu_()\n\n"
        "def get_inputs():\n    return [torch.randn(2, 8), torch.randn(2, 8)]\n"
    )
    found = prints(tmp_path, bench=code + "\n" + SEPARATOR + "\n" + tests, module=module)
    assert found["bench"]["graphs"] == found["module"]["graphs"]


def test_what_cannot_run_without_data_says_so(tmp_path: Path) -> None:
    path = tmp_path / "branch.py"
    path.write_text(ORIGINAL.replace("x = self.fc(x)", "x = self.fc(x) if x.sum() > 0 else x"))
    found = fingerprint(path)
    assert found["graphs"] == [] and "meta" in found["unread"]
    assert found["syntax"]
