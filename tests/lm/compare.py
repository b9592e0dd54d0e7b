"""Compares `mtmc-lm` with transformers and tokenizers on a real model: tokens of at least 5,000 texts of this checkout, and logits.

    python tests/lm/compare.py build/release/mtmc-lm SmolLM2-135M-Instruct.Q4_1.gguf

Wants transformers, gguf and accelerate. transformers reads a GGUF file's tokenizer without the step that puts every digit apart
(seen with 5.23); it is given that step here, as the model's own tokenizer.json has it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = ("src/**/*.cpp", "src/**/*.h", "python/**/*.py", "docs/*.md", "tests/**/*.py", "tests/frontend/golden/*")
PIECES, LENGTHS = 6, (20, 200, 1500)  # of each file, in characters
LEAST = 5000
ODD = ["héllo ñ 漢字 🎉🏽 \u200b \t\t  \r\n x", "<|im_start|>user\nhi<|im_end|>", "   leading", "1234567890 12 3", ""]


class Lines:
    """`mtmc-lm VERB --model MODEL`: a line of JSON in, one out."""

    def __init__(self, binary: str, verb: str, model: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([binary, verb, "--model", str(model)], stdin=pipe, stdout=pipe, text=True)
        self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()


def texts() -> list[str]:
    random.seed(0)
    found = list(ODD)
    for pattern in PATTERNS:
        for file in sorted(ROOT.glob(pattern)):
            text = file.read_text(errors="ignore")
            for _ in range(PIECES):
                begin = random.randrange(max(1, len(text)))
                found.append(text[begin : begin + random.choice(LENGTHS)])
    return found


def main() -> int:
    binary, model = sys.argv[1], Path(sys.argv[2])
    where = {"pretrained_model_name_or_path": model.parent, "gguf_file": model.name}
    theirs = AutoTokenizer.from_pretrained(**where)
    digits = pre_tokenizers.Digits(individual_digits=True)
    theirs.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    ours, all_texts = Lines(binary, "tokenize", model), texts()
    differ = [text for text in all_texts if ours.ask(text=text)["tokens"] != theirs(text)["input_ids"]]
    print(f"{len(all_texts)} texts, {len(differ)} with other tokens", *map(repr, differ[:3]))
    network = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    logits, worst = Lines(binary, "logits", model), 0.0
    for text in (
        "def forward(self, x):\n    return torch.relu(x)",
        "fuse linear and max in lines 15-20",
        "tile matmul",
    ):
        ids = theirs(text)["input_ids"]
        with torch.no_grad():
            wanted = network(torch.tensor([ids])).logits[0]
        found = torch.tensor(logits.ask(tokens=ids)["logits"])
        worst = max(worst, (found - wanted).abs().max().item())
    print(f"logits differ by at most {worst:.1e}")
    return 1 if differ or len(all_texts) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
