"""tools/train_tokenizer.py: from a dataset to a tokenizer that a new model has and `mtmc-lm` reads as `tokenizers` does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_trees import write_small_trees

tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc")).parent / "mtmc-lm"
TEXTS = [
    "next action:",
    "   7 | x_12 = tl.load(x + row * 96)\n",
    "fuse linear and gelu in lines 31-47",
    "Größe 5 µs\t\n",
]


def run(*words: object, text: str | None = None) -> str:
    argv = list(map(str, words))
    return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.skipif(not PROGRAM.exists(), reason="mtmc-lm is not built here")
def test_a_dataset_makes_a_tokenizer_for_a_new_model(tmp_path: Path) -> None:
    trees, kept, model = tmp_path / "trees.jsonl", tmp_path / "tokenizer.json", tmp_path / "model"
    write_small_trees(trees)
    said = run(sys.executable, ROOT / "tools/train_tokenizer.py", trees, "--size", 400, "--share", 1, "--out", kept)
    theirs = tokenizers.Tokenizer.from_file(str(kept))
    assert 256 < theirs.get_vocab_size() <= 400 and said.startswith(f"{theirs.get_vocab_size()} tokens")
    run(PROGRAM, "train", "new", "--tokenizer", kept, "--out", model, "--width", 32, "--inner", 64)
    asked = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    replies = [json.loads(line) for line in run(PROGRAM, "tokenize", "--model", model, text=asked).splitlines()[1:]]
    assert [reply["tokens"] for reply in replies] == [theirs.encode(text).ids for text in TEXTS]
    code = json.loads(trees.read_text().splitlines()[1])["places"][0]["code"]
    assert len(theirs.encode(code).ids) < len(code) / 2
    argv = [sys.executable, ROOT / "tools/train_tokenizer.py", kept, "--out", tmp_path / "other.json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "another format: wanted mtmc-trees-3" in done.stderr
