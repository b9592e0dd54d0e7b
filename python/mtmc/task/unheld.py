"""What a constructor draws at random and no state holds: tensors in a dict, in a list of lists or in an object, and numbers; and
what the file draws while it is imported.

Every process that builds the module has other ones, the candidate's among them, and nobody can lend them. A task whose results
depend on such a thing is refused, and the user is told where to put it.
"""

from __future__ import annotations

from types import ModuleType

import torch

from mtmc.device.random_state import seed_all
from mtmc.task.lasting import MOST_NAMED, Objects, copies, described, objects_of
from mtmc.task.once_more import Raised, answer_of, inputs_of
from mtmc.task.plain_state import built_again
from mtmc.task.task import Task
from mtmc.wire.blobs import identical, leaves
from mtmc.wire.plain import Attributes, State, load_state
from mtmc.wire.task_error import TaskError


def refuse_unheld(task: Task, model: torch.nn.Module, other: torch.nn.Module | None, state: State, doing: str) -> None:
    """TaskError where `other`, the task's module built again, answers something else when it is given the same state. The model
    is left with that state."""
    if other is None:
        return
    mine = objects_of(model, values=True)

    def differs(one: torch.nn.Module) -> list[str]:
        theirs = objects_of(one, values=True)
        return [f"{name}: {mine[name][1]}" for name in mine if mine[name] != theirs.get(name)]

    drawn = differs(other)
    if not drawn and task.again is task:
        return
    objects = {one: Attributes(one) for one in (model, other)}

    def call(one: torch.nn.Module) -> list[object]:
        inputs = inputs_of(task)
        load_state(one, state)
        seed_all(0)
        result = copies(leaves(answer_of(task, one, inputs)))
        objects[one].restore()
        return result

    try:
        result = call(model)
        if not identical(call(model), result) or identical(call(other), result):
            return
        if task.again is not task:  # built once more of the file as it is: what still differs is the constructor's
            own = built_again(task, imported=False)
            drawn = differs(own) if own is not None else []
            if drawn:
                objects[own] = Attributes(own)
                drawn = [] if identical(call(own), result) else drawn
    except Raised:
        return
    finally:
        objects[model].restore()
        load_state(model, state)
    if not drawn:
        wrong = "what forward returns depends on what its file draws at random while it is imported"
        wanted = (
            "parameters, buffers or tensor attributes that the constructor draws, or a seed in the file before it draws"
        )
        raise TaskError(doing, wrong, "; ".join(drawn_in_file(task)[:MOST_NAMED]), wanted)
    wrong = "what forward returns depends on what differs from one construction to the next, and nobody can set it"
    wanted = "buffers, tensor attributes or lists of tensors, or a generator with a seed of its own"
    raise TaskError(doing, wrong, "; ".join(drawn[:MOST_NAMED]), wanted)


def drawn_in_file(task: Task) -> list[str]:
    """The names that stand for other values when the task's file is imported again, and what they stand for."""
    mine, theirs = (named_values(one.namespace) for one in (task, task.again))
    return [f"{name}: {mine[name][1]}" for name in mine if mine[name] != theirs.get(name)]


def named_values(namespace: ModuleType) -> Objects:
    """At the top level of a file and in its classes, by name."""
    found: Objects = {}
    for name, value in vars(namespace).items():
        if isinstance(value, type) and value.__module__ == namespace.__name__:
            found |= {f"{name}.{own}": described(one) for own, one in vars(value).items() if not own.startswith("__")}
        elif not name.startswith("__"):
            found[name] = described(value)
    return found
