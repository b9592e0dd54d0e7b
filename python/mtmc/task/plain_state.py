"""Which plain attributes of a module are state."""

from __future__ import annotations

import torch

from mtmc.task.task import Task
from mtmc.wire.plain import State, plain_tensors

OTHER_SEED = 0x5EED


def drawn_at_random(task: Task, plain: State) -> list[str]:
    """Of a module's plain attributes as its constructor left them those that have other values under another seed, so that no
    state_dict brings them to another module."""
    others = plain_tensors(task.make_unfilled(OTHER_SEED)[0]) if plain else {}
    return [key for key, value in plain.items() if key not in others or not same_values(value, others[key])]


def same_values(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Same device, type, shape and elements; NaN equals NaN."""
    return a.device == b.device and a.dtype == b.dtype and torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
