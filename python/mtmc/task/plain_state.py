"""Which plain attributes of a module are state."""

from __future__ import annotations

import torch

from mtmc.task.task import Task
from mtmc.wire.plain import State, plain_tensors
from mtmc.wire.task_error import TaskError

OTHER_SEED = 0x5EED


def built_again(task: Task) -> torch.nn.Module | None:
    """The task's module under another seed, its parameters unfilled; None where there is no memory for two."""
    try:
        return task.make_unfilled(OTHER_SEED)[0]
    except TaskError:
        return None


def drawn_at_random(other: torch.nn.Module | None, plain: State) -> list[str]:
    """Of a module's plain attributes as its constructor left them those that have other values in `other`, built again, so that
    no state_dict brings them to another module; all of them where there is no other: to lend one too many does no harm."""
    others = plain_tensors(other) if plain and other is not None else {}
    return [key for key, value in plain.items() if key not in others or not same_values(value, others[key])]


def same_values(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Same device, type, shape and elements; NaN equals NaN."""
    return a.device == b.device and a.dtype == b.dtype and torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
