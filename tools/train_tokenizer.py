"""A small byte-level BPE tokenizer for models from scratch, trained on what a policy reads: the code of a dataset's states, with
line numbers as in a prompt, and the actions that are offered there. It needs the package `tokenizers`:

    python3 tools/train_tokenizer.py trees.jsonl --size 4096 --out tokenizer.json
    ./mtmc train new --tokenizer tokenizer.json --out small
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from tokenizers.decoders import ByteLevel

END = "<|endoftext|>"
FORMAT = "mtmc-trees-3"  # src/learn/dataset.h
SHOWN = 160  # characters of a line that a prompt shows


def texts(datasets: list[Path], share: float, seed: int) -> Iterator[str]:
    """Of a share of the states, drawn at random: neighbouring states have nearly the same code."""
    rng = random.Random(seed)
    for dataset in datasets:
        with dataset.open() as lines:
            if FORMAT not in next(lines, ""):
                raise SystemExit(
                    f"reading {dataset}: another format: wanted {FORMAT}, as `mtmc dataset export` writes it"
                )
            for line in lines:
                tree = json.loads(line)
                yield f"hardware: {tree['hardware']}\ntask: {tree['description']}\n"
                for place in tree["places"]:
                    if rng.random() < share:
                        numbered = (f"{i:>4} | {row[:SHOWN]}" for i, row in enumerate(place["code"].split("\n"), 1))
                        yield "\n".join(numbered)
                        yield from (action[0] for action in place["actions"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path, help="as `mtmc dataset export` writes them")
    parser.add_argument("--size", type=int, default=4096, help="tokens")
    parser.add_argument("--share", type=float, default=0.1, help="of the states that is read")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=given.size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts(given.datasets, given.share, given.seed), trainer)
    tokenizer.save(str(given.out))
    print(f"{tokenizer.get_vocab_size()} tokens in {given.out}")


if __name__ == "__main__":
    main()
