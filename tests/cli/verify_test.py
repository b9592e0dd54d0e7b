"""`mtmc verify` from end to end: options that change the verdict, baselines, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable


def verify(task: str, candidate: str, *words: str) -> tuple[int, dict]:
    argv = [str(BINARY), "verify", str(ROOT / task), str(ROOT / candidate), "--tier", "screen", "--json", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_tf32_is_refused_unless_it_is_allowed() -> None:
    code, verdict = verify("tests/tasks/matmul.py", "tests/honest/matmul_tf32.py")
    assert (code, verdict["reason"]) == (1, "precision"), verdict["message"]
    code, verdict = verify("tests/tasks/matmul.py", "tests/honest/matmul_tf32.py", "--accuracy", "tf32", "--compile")
    assert (code, verdict["accuracy_class"]) == (0, "tf32"), verdict["message"]
    assert verdict["evaluator"].endswith("accuracy tf32")
    assert len(verdict["times"]["compile"]["samples_ms"]) == len(verdict["times"]["candidate"]["samples_ms"])
