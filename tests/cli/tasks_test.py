"""`mtmc tasks`: what it writes runs, is traced and is right untouched; it finds tasks among others."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
pytestmark = pytest.mark.usefixtures("warm_python")
sys.path.insert(0, str(ROOT / "python"))

from mtmc.scan.syntax import file_hash  # noqa: E402
from mtmc.task.task import load_task  # noqa: E402
from mtmc.trace.trace import trace  # noqa: E402

KINDS = ("operator", "subgraph", "network")


def mtmc(*words: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [str(BINARY), *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)


def written(folder: Path, kind: str, count: int, *words: str) -> list[Path]:
    done = mtmc("tasks", "--kind", kind, "--size", "small", "--count", str(count), "--out", folder, *words)
    assert done.returncode == 0, done.stderr
    assert f"wrote {count} tasks of the kind {kind}" in done.stdout
    return sorted(folder.glob("*.py"))


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_run_are_traced_and_are_right_untouched(tmp_path: Path, kind: str) -> None:
    files = written(tmp_path / "tasks", kind, 3)
    assert len(files) == 3
    for path in files:
        traced = trace(load_task({"name": path.stem, "file": str(path)}))  # compares with eager on two draws
        assert traced["nodes"]
    first, kernel = files[0], tmp_path / "kernel.py"
    assert mtmc("apply", first, "--write", kernel, "--brief").returncode == 0
    task = load_task({"name": first.stem, "file": str(first)})
    spec = importlib.util.spec_from_file_location("kernel", kernel)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    eager, ours = task.make_model(0), task.make_model(0, constructor=module.ModelNew)
    ours.load_state_dict(eager.state_dict())
    inputs = task.make_inputs(1)
    with torch.no_grad():
        torch.testing.assert_close(ours(*inputs), eager(*inputs))


def test_all_files_differ_in_more_than_names(tmp_path: Path) -> None:
    for kind in KINDS:
        files = written(tmp_path / kind, kind, 100, "--seed", "7")
        hashes = {file_hash(path.read_text().partition("\n")[2]) for path in files}
        assert len(hashes) == len(files)


def test_a_task_among_others_is_found_and_left_out(tmp_path: Path) -> None:
    files = written(tmp_path / "tasks", "operator", 4)
    other = tmp_path / "others" / "benchmark.py"
    other.parent.mkdir()
    other.write_text(files[1].read_text().replace("class Model", "\n# a copy\nclass Model"))
    found = mtmc("tasks", "--scan", tmp_path / "tasks", "--against", other.parent)
    assert found.returncode == 1
    assert f"{files[1]} is {other} (operators)" in found.stdout and "1 of 4 files" in found.stdout
    left = written(tmp_path / "again", "operator", 4, "--against", str(other.parent))
    assert files[1].name not in {path.name for path in left} and len(left) == 4
    assert mtmc("tasks", "--scan", tmp_path / "again", "--against", other.parent).returncode == 0


def test_mistakes_are_told(tmp_path: Path) -> None:
    assert mtmc("tasks", "--kind", "operator").returncode == 2
    done = mtmc("tasks", "--graphnet", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 2 and "no samples in this folder" in done.stderr
    done = mtmc("tasks", "--scan", tmp_path / "missing", "--against", tmp_path)
    assert done.returncode == 2 and "no such file or folder" in done.stderr
