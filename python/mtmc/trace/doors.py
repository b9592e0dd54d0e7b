"""Does forward compute gradients, pack sequences, or seed random numbers? torch.export cannot trace the first two, and its reasons
say anything else; of the last nothing is left in its graph."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._functorch import eager_transforms

Stacks = list[traceback.StackSummary]
Doors = tuple[tuple[Any, str], ...]

# What all of torch.autograd and torch.func goes through, and what all of torch.nn.utils.rnn does.
GRADIENTS: Doors = (
    (torch.autograd, "_engine_run_backward"),
    (eager_transforms, "grad_increment_nesting"),
    (eager_transforms, "jvp_increment_nesting"),
)
PACKING: Doors = ((torch._VF, "_pack_padded_sequence"),)
SEEDING: Doors = tuple(
    (module, name) for module in (torch, torch.random) for name in ("manual_seed", "seed", "set_rng_state")
)


@dataclass
class Asked:
    """Where gradients were asked for, sequences packed, and random numbers seeded."""

    gradients: Stacks = field(default_factory=list)
    packed: Stacks = field(default_factory=list)
    seeded: Stacks = field(default_factory=list)


@contextlib.contextmanager
def doors_watched() -> Iterator[Asked]:
    """Notes who goes through them, from here to the end of the block."""
    asked = Asked()

    def noting(door: Callable[..., Any], stacks: Stacks) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            stacks.append(traceback.extract_stack())
            return door(*args, **kwargs)

        return noted

    kinds = ((GRADIENTS, asked.gradients), (PACKING, asked.packed), (SEEDING, asked.seeded))
    watched = [(one, stacks) for doors, stacks in kinds for one in doors]
    before = [(module, name, getattr(module, name), to) for (module, name), to in watched if hasattr(module, name)]
    try:
        for module, name, door, stacks in before:
            setattr(module, name, noting(door, stacks))
        yield asked
    finally:
        for module, name, door, _ in before:
            setattr(module, name, door)
