"""None of the worked examples in prompts is a task of KernelBench: `MTMC_KERNELBENCH` names a checkout of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
KERNELBENCH = os.environ.get("MTMC_KERNELBENCH", "")
TASK = re.compile(r"^## task\n\n```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

needs_kernelbench = pytest.mark.skipif(
    not KERNELBENCH, reason="MTMC_KERNELBENCH names no checkout of KernelBench (its folder with level1, level2, level3)"
)


@needs_kernelbench
def test_no_worked_example_is_a_benchmark_task(tmp_path: Path) -> None:
    examples = sorted((ROOT / "src/coder/examples").glob("*.md"))
    assert examples
    for file in examples:
        (task,) = TASK.findall(file.read_text())
        (tmp_path / f"{file.stem}.py").write_text(task)
    levels = [Path(KERNELBENCH) / f"level{number}" for number in (1, 2, 3)]
    others = [path for level in levels for path in level.glob("*.py")]
    assert len(others) >= 250, f"{KERNELBENCH} has {len(others)} tasks"
    argv = [BINARY, "tasks", "--scan", tmp_path, "--against", *levels]
    done = subprocess.run(map(str, argv), capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"0 of {len(examples)} files are among the {len(others)} others (0 and " in done.stdout, done.stdout
