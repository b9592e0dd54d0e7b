"""Does forward compute gradients? torch.export cannot trace that, and its reasons say anything else."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._functorch import eager_transforms

# What all of torch.autograd and torch.func goes through.
DOORS = (
    (torch.autograd, "_engine_run_backward"),
    (eager_transforms, "grad_increment_nesting"),
    (eager_transforms, "jvp_increment_nesting"),
)
Stacks = list[traceback.StackSummary]


@contextlib.contextmanager
def gradients_noticed() -> Iterator[Stacks]:
    """Notes where gradients are asked for, from here to the end of the block."""
    asked: Stacks = []

    def noting(door: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            asked.append(traceback.extract_stack())
            return door(*args, **kwargs)

        return noted

    before = [(module, name, getattr(module, name)) for module, name in DOORS if hasattr(module, name)]
    try:
        for module, name, door in before:
            setattr(module, name, noting(door))
        yield asked
    finally:
        for module, name, door in before:
            setattr(module, name, door)
