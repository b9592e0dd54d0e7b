"""Adapters that training wrote, read by PEFT, and PEFT's read by us; and a merged model read by transformers. Prints the largest
difference of logits, as a part of the largest logit:

    python tests/train/compare_peft.py build/release/mtmc-lm

Wants peft and transformers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))
from small_trees import write_small_trees  # noqa: E402

MODEL = ROOT / "tests/lm/data/llama"
TOKENS = list(range(7, 160, 3))
TARGETS = ["q_proj", "v_proj", "down_proj"]


def ours(binary: str, model: Path, *words: object) -> torch.Tensor:
    argv = [binary, "logits", "--model", str(model), *map(str, words)]
    done = subprocess.run(argv, input=json.dumps({"tokens": TOKENS}), capture_output=True, text=True, check=True)
    return torch.tensor(json.loads(done.stdout.splitlines()[1])["logits"])


def theirs(model: torch.nn.Module) -> torch.Tensor:
    with torch.no_grad():
        return model(torch.tensor([TOKENS])).logits[0]


def base() -> torch.nn.Module:
    return AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)


def difference(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).abs().max() / b.abs().max())


def main() -> int:
    binary = sys.argv[1]
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_small_trees(folder / "trees.jsonl")
        words = ["clone", "--model", MODEL, "--data", folder / "trees.jsonl", "--out", folder / "run", "--updates", 2]
        words += ["--episodes", 4, "--lr", 0.02, "--rank", 4, "--targets", *TARGETS]
        subprocess.run([binary, "train", *map(str, words)], check=True, capture_output=True)
        adapter = folder / "run/policy"
        read = theirs(PeftModel.from_pretrained(base(), str(adapter)))
        found["adapter changes logits by"] = difference(read, theirs(base()))
        found["ours read by PEFT"] = difference(ours(binary, MODEL, "--adapter", adapter), read)

        subprocess.run(
            [binary, "train", "merge", "--model", MODEL, "--adapter", adapter, "--out", folder / "merged"], check=True
        )
        merged = AutoModelForCausalLM.from_pretrained(folder / "merged", dtype=torch.float32)
        found["merged by us, read by transformers"] = difference(theirs(merged), read)

        torch.manual_seed(0)
        made = get_peft_model(base(), LoraConfig(r=3, lora_alpha=12, target_modules=TARGETS, task_type="CAUSAL_LM"))
        for parameter_name, parameter in made.named_parameters():
            if "lora_B" in parameter_name:
                torch.nn.init.normal_(parameter, std=0.2)
        made.save_pretrained(folder / "peft")
        found["PEFT's read by us"] = difference(ours(binary, MODEL, "--adapter", folder / "peft"), theirs(made))
    for what, value in found.items():
        print(f"{what}: {value:.2e}")
    first, *rest = found.values()
    return 0 if first > 1e-2 and max(rest) < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
