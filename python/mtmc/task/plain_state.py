"""Which plain attributes of a module are state, and which modules hold something that a copy would share."""

from __future__ import annotations

from types import CellType, FunctionType

import torch

from mtmc.task.task import Task
from mtmc.wire.plain import State, plain_tensors
from mtmc.wire.task_error import TaskError

OTHER_SEED = 0x5EED


def built_again(task: Task, imported: bool = True) -> torch.nn.Module | None:
    """The task's module under another seed, its parameters unfilled, and, where `imported`, of its file imported again, see
    Task.again; None where there is no memory for two."""
    try:
        return (task.again if imported else task).make_unfilled(OTHER_SEED)[0]
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


def remembers_itself(model: torch.nn.Module) -> bool:
    """Does it hold a function that was defined around one of its modules, such as a hook that keeps a layer's result? A copy's
    would go on to speak of the original."""
    values = [value for module in model.modules() for value in vars(module).values()]
    functions = [one for value in values for one in (value.values() if isinstance(value, dict) else (value,))]
    cells = [cell for one in functions if isinstance(one, FunctionType) for cell in one.__closure__ or ()]
    empty = CellType()
    return any(cell != empty and isinstance(cell.cell_contents, torch.nn.Module) for cell in cells)
