"""`--strategy evolve` on the command line: what was crossed shows both parents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.softmax(torch.nn.functional.gelu(x) * 2, -1), torch.relu(y.sin()) + 1, torch.cumsum(y.exp(), 0)


def get_inputs():
    return [torch.randn(64, 64), torch.randn(32, 128)]
"""


def mtmc(*words: object) -> str:
    argv = [str(BINARY), *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_what_was_crossed_shows_both_parents(tmp_path: Path) -> None:
    (tmp_path / "three.py").write_text(TASK)
    store = ("--store", tmp_path / "s.db")
    how = ("--target", "null", "--hardware", "h100", "--strategy", "evolve", "--policy", "random", "--seed", 1)
    mtmc("optimize", tmp_path / "three.py", *how, "--evaluations", 60, "--out", tmp_path / "out", *store)
    nodes = {node["node"]: node for node in json.loads(mtmc("show", "last", "--json", *store))["nodes"]}
    crossed = [node for node in nodes.values() if node["partner"]]
    assert crossed
    for node in crossed:
        assert node["partner"] in nodes and node["partner"] != node["parent"]
    one = crossed[0]
    assert f"from node {one['partner']}" in mtmc("show", "last", *store)
    assert f"from attempt {one['partner']}" in mtmc("show", "--node", one["node"], *store)
    report = (tmp_path / "out/report.html").read_text()
    assert f"crossed with <a href='#n{one['partner']}'>" in report
