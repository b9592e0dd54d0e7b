"""Names that Python's grammar does not take as attributes, shared weights, and memory that is given back in time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("block1-0", "0"):
            self.add_module(name, torch.nn.Linear(8, 8))
        self.tied = torch.nn.Linear(8, 8)
        self.tied.weight = getattr(self, "0").weight

    def forward(self, x):
        for name in ("block1-0", "0", "tied"):
            x = getattr(self, name)(x)
        return x

def get_inputs():
    return [torch.randn(4, 8)]
"""


def test_names_and_shared_weights(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(TASK)
    made = tmp_path / "kernel.py"
    argv = [str(BINARY), "apply", str(tmp_path / "task.py"), "--brief", "--write", str(made)]
    environment = {**os.environ, "MTMC_PYTHON": sys.executable}
    subprocess.run(argv, check=True, capture_output=True, timeout=300, env=environment)
    task: dict = {}
    kernel: dict = {}
    exec(TASK, task)
    exec(made.read_text(), kernel)
    model, ours, x = task["Model"](), kernel["ModelNew"](), torch.randn(4, 8)
    ours.load_state_dict(model.state_dict())
    with torch.no_grad():
        assert torch.equal(ours(x), model(x))
    calls = re.findall(r"(v\d+) = F.linear\((\w+), .*?; del (\w+)", made.read_text())
    assert len(calls) == 2  # each but the first frees what it read
    assert all(read == freed for _, read, freed in calls)
