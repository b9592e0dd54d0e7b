"""A language model as the policy, from a task to a run, with a tiny random model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_task import SMALL_TASK

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
built = pytest.mark.skipif(not (BINARY.parent / "mtmc-lm").exists(), reason="mtmc-lm is not built here")


def optimize(folder: Path, model: Path) -> subprocess.CompletedProcess[str]:
    (folder / "task.py").write_text(SMALL_TASK)
    words = ["optimize", folder / "task.py", "--target", "null", "--policy", f"lm:{model}", "--strategy", "rollout"]
    words += ["--evaluations", 4, "--store", folder / f"{os.urandom(4).hex()}.db", "--out", folder / "out"]
    argv = [str(word) for word in (BINARY, *words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)


def tiny_model(folder: Path, context: int) -> Path:
    model = folder / "model"
    shutil.copytree(ROOT / "tests/lm/data/smollm", model)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"max_position_embeddings": context}))
    return model


def steps(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if line[:3].strip().isdigit()]


@built
def test_it_chooses_the_same_steps_each_time(tmp_path: Path) -> None:
    model = tiny_model(tmp_path, context=4096)
    first, again = optimize(tmp_path, model), optimize(tmp_path, model)
    assert first.returncode in (0, 1), first.stdout + first.stderr
    assert len(steps(first)) > 1 and steps(first) == steps(again)


@built
def test_a_prompt_that_does_not_fit_is_told(tmp_path: Path) -> None:
    model = tiny_model(tmp_path, context=16)
    done = optimize(tmp_path, model)
    assert done.returncode == 2 and "the context is too small: got 8 tokens" in done.stderr, done.stdout + done.stderr


def test_mistakes_are_told(tmp_path: Path) -> None:
    done = optimize(tmp_path, tmp_path / "nothing")
    assert done.returncode == 2 and "opening a policy's weights: no such file or folder" in done.stderr


@built
def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/weights").write_text("")
    done = optimize(tmp_path, tmp_path / "model")
    assert done.returncode == 2 and "no config.json" in done.stderr, done.stderr
