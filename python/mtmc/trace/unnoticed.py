"""Libraries that ask whether they are being traced are told no, so that the trace holds what they do in eager.

transformers, for one, builds masks and repeats heads where it believes to be traced, and calls attention without either in
eager. torch's own code goes on to hear the truth: tracing depends on it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

QUESTIONS = ("is_compiling", "is_exporting", "is_dynamo_compiling")
ELSEWHERE = {"transformers.utils.import_utils": ("is_fake_tensor",)}  # libraries' own ways to find out


def for_torch_only(question: Callable[[], bool]) -> Callable[[], bool]:
    def answer() -> bool:
        asker = sys._getframe(1).f_globals.get("__name__", "")
        return question() if asker.partition(".")[0] == "torch" else False

    return answer


def never(*_: Any) -> bool:
    return False


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    replaced = [(torch.compiler, name, for_torch_only(getattr(torch.compiler, name))) for name in QUESTIONS]
    for library, names in ELSEWHERE.items():
        if module := sys.modules.get(library):
            replaced += [(module, name, never) for name in names if hasattr(module, name)]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    try:
        for module, name, answer in replaced:
            setattr(module, name, answer)
        yield
    finally:
        for module, name, answer in before:
            setattr(module, name, answer)
