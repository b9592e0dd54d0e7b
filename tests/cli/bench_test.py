"""`mtmc bench` from end to end on the null target: rows, resumption, a task that fails."""

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
    def forward(self, x):
        return torch.relu(x * 2) + 1


def get_inputs():
    return [torch.randn(64, 64)]
"""


def bench(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [
        str(BINARY),
        "bench",
        *words,
        "--root",
        str(root),
        "--out",
        str(root / "out"),
        "--store",
        str(root / "s.db"),
    ]
    argv += ["--target", "null", "--evaluations", "3"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)


def rows(root: Path) -> list[dict]:
    return [json.loads(line) for line in (root / "out/rows.jsonl").read_text().splitlines()]


def test_a_suite_is_done_task_by_task_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(TASK)
    (tmp_path / "two.py").write_text(TASK.replace("return torch.relu", "return undefined_name"))
    (tmp_path / "three.py").write_text(TASK.replace("+ 1", "+ 3"))
    listed = bench(tmp_path, "files", "--list")
    assert listed.stdout.split() == ["one", "three", "two"]

    first = bench(tmp_path, "files", "--tasks", "one")
    assert first.returncode == 0, first.stdout + first.stderr
    (row,) = rows(tmp_path)
    assert (row["suite"], row["task"], row["error"], row["target"]) == ("files", "one", None, "null")
    assert row == {**json.loads((tmp_path / "out/one/result.json").read_text()), "suite": "files", "error": None}
    assert (tmp_path / "out/one/kernel.py").exists() and (tmp_path / "out/one/report.html").exists()

    whole = bench(tmp_path, "files")
    assert whole.returncode == 1, "one task failed"
    assert "one: " in whole.stdout and "(remembered)" in whole.stdout
    by_task = {row["task"]: row for row in rows(tmp_path)}
    assert len(rows(tmp_path)) == len(by_task) == 3, "nothing was done twice"
    assert "undefined_name" in by_task["two"]["error"]
    assert by_task["three"]["answer"] in ("faster", "not-faster", "at-roofline")

    (tmp_path / "two.py").write_text(TASK.replace("+ 1", "+ 2"))
    mended = bench(tmp_path, "files")
    assert mended.returncode == 0, "what failed is tried again: " + mended.stdout
    assert [row["task"] for row in rows(tmp_path)] == ["one", "three", "two", "two"]


def test_mistakes_are_told(tmp_path: Path) -> None:
    for words, wanted in (
        (("suit",), "choosing a suite: there is no such one: got 'suit', wanted files, kernelbench"),
        (("files",), "no task file in this folder"),
        (("kernelbench",), "wanted a checkout of github.com/ScalingIntelligence/KernelBench"),
    ):
        done = bench(tmp_path, *words)
        assert done.returncode == 2, done.stdout
        assert wanted in done.stderr
    (tmp_path / "one.py").write_text(TASK)
    for words, wanted in (
        (("files", "--tasks", "o?"), "no task of the suite has such a name: got 'o?'"),
        (
            ("files", "--policy", "oracle"),
            "choosing a policy: there is no such one: got 'oracle', wanted greedy, random",
        ),
        (("files", "--coder", "builtin:x"), "choosing a coder: builtin takes no argument: got 'builtin:x'"),
    ):
        done = bench(tmp_path, *words)
        assert done.returncode == 2, done.stdout
        assert wanted in done.stderr
