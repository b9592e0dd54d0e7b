"""A language model as the policy, from a task to a run, with a tiny random model."""

from __future__ import annotations

import hashlib
import json
import lzma
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
pytestmark = pytest.mark.usefixtures("warm_python")
built = pytest.mark.skipif(not (BINARY.parent / "mtmc-lm").exists(), reason="mtmc-lm is not built here")


def optimize(folder: Path, model: Path | str) -> subprocess.CompletedProcess[str]:
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


@built
def test_what_is_shipped_chooses_by_its_name(tmp_path: Path) -> None:
    by_name, by_path = optimize(tmp_path, "small"), optimize(tmp_path, ROOT / "policies/small")
    assert by_name.returncode in (0, 1), by_name.stdout + by_name.stderr
    assert len(steps(by_name)) > 1 and steps(by_name) == steps(by_path)


@built
def test_what_is_shipped_needs_nothing_else(tmp_path: Path) -> None:
    """No other file and no network: it lies in an empty home, from where any way out is closed."""
    model = tmp_path / "small"
    shutil.copytree(ROOT / "policies/small", model)
    environment = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "all_proxy")}
    environment |= {"HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
    (tmp_path / "home").mkdir()
    asked = {"prompt": "task: x", "actions": ["fuse linear and gelu", "stop"], "gains": [0.5, -0.02]}
    argv = [BINARY.parent / "mtmc-lm", "score", "--dtype", "auto", "--model", model]
    done = subprocess.run(
        argv, input=json.dumps(asked) + "\n", capture_output=True, text=True, timeout=60, check=True, env=environment
    )
    ready, answer = map(json.loads, done.stdout.splitlines())
    assert ready["policy"] == {"context": 512, "prior": 20, "scores": "token", "view": "program", "voice": 0.1}
    assert answer["greedy"] == 0 and list((tmp_path / "home").iterdir()) == []


def test_the_card_names_what_is_shipped() -> None:
    card = (ROOT / "policies/README.md").read_text()
    names = ("small/model.safetensors", "small/tokenizer.json", "smollm2/adapter_model.safetensors")
    shipped = [ROOT / "policies" / name for name in names]
    contents = [file.read_bytes() for file in shipped]
    contents.append(lzma.decompress((ROOT / "datasets/h100.jsonl.xz").read_bytes()))  # what it learned from
    for content in contents:
        assert hashlib.sha256(content).hexdigest() in card


def test_mistakes_are_told(tmp_path: Path) -> None:
    done = optimize(tmp_path, tmp_path / "nothing")
    assert done.returncode == 2 and "opening a policy's weights: no such file or folder" in done.stderr


@built
def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/weights").write_text("")
    done = optimize(tmp_path, tmp_path / "model")
    assert done.returncode == 2 and "no config.json" in done.stderr, done.stderr
