"""A real model behind the chat completions protocol (`bench/serve_lm.py`), tiny and random: its nonsense is survived in good order."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lm_policy_test import BINARY, ROOT, built, tiny_model
from small_task import SMALL_TASK


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    model = tiny_model(tmp_path, context=8192)
    argv = [sys.executable, ROOT / "bench/serve_lm.py", "--model", model, "--port", 0]
    argv += ["--program", BINARY.parent / "mtmc-lm"]
    server = subprocess.Popen([str(word) for word in argv], text=True, stdout=subprocess.PIPE, env=quiet())
    assert server.stdout is not None
    yield server.stdout.readline().strip()
    assert server.poll() is None, "the server has outlived all questions"
    server.kill()
    server.wait()


def quiet() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def optimize(folder: Path, url: str, *words: object) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """What was said, and of the attempts that are kept why there is no code."""
    (folder / "task.py").write_text(SMALL_TASK)
    argv = [BINARY, "optimize", folder / "task.py", "--target", "cpu", "--baselines", "graph", "--strategy", "rollout"]
    argv += ["--model", "small", "--base-url", url, "--store", folder / "store.db", "--out", folder / "out", *words]
    argv += ["--time", 300]
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=400, check=False)
    with sqlite3.connect(folder / "store.db") as store:
        return done, [failure for (failure,) in store.execute("SELECT coalesce(failure, '') FROM nodes ORDER BY id")]


@built
def test_nonsense_is_refused_and_the_start_is_certified(tmp_path: Path, url: str) -> None:
    words = ("--coder", "free", "--prompt", "paper", "--answer-tokens", 24, "--repairs", 1, "--evaluations", 2)
    done, failures = optimize(tmp_path, url, *words)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "the model gave nothing to judge: reading the answer: " in done.stdout, done.stdout
    start, *refused = failures
    assert start == "" and refused and all(why.startswith("reading the answer: ") for why in refused)
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert result["account"]["requests"] >= 2 and result["account"]["usd"] == 0
    assert "class ModelNew" in (tmp_path / "out/kernel.py").read_text()


@built
def test_a_prompt_longer_than_the_context_is_a_refused_step(tmp_path: Path, url: str) -> None:
    done, failures = optimize(tmp_path, url, "--coder", "llm", "--answer-tokens", 8192, "--evaluations", 2)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "maximum context length is 8192 tokens" in done.stdout, done.stdout
    start, *refused = failures
    assert start == "" and refused and all("context length" in why for why in refused)
