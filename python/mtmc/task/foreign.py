"""Random numbers that a forward draws elsewhere than in torch: by Python's random, or numpy's.

Nobody gives them to a candidate again, and a trace holds those that it met. A task whose results depend on them is refused.
"""

from __future__ import annotations

import torch

from mtmc.device.random_state import other_random_states, seed_all, seed_others
from mtmc.task.lasting import copies
from mtmc.task.once_more import Raised, answer_of, inputs_of
from mtmc.task.task import Task
from mtmc.wire.blobs import identical, leaves
from mtmc.wire.plain import Attributes, State, load_state
from mtmc.wire.task_error import TaskError

SEEDS = 8  # a coin that decides falls otherwise for one of them, but for a chance of one in 128


def refuse_foreign(task: Task, model: torch.nn.Module, state: State, doing: str) -> None:
    """TaskError where the task's module, given the same state, arguments and seed of torch's, answers something else under other
    seeds of Python's and numpy's random numbers. It is left with that state."""
    objects, whose = Attributes(model), set[str]()

    def call(seed: int) -> list[object]:
        inputs = inputs_of(task)
        objects.restore()
        load_state(model, state)
        seed_all(0)
        seed_others(seed)
        before = other_random_states()
        result = answer_of(task, model, inputs)
        whose.update(name for name, now in other_random_states().items() if now != before.get(name))
        return copies(leaves(result))

    try:
        first = call(0)
        if not identical(call(0), first) or all(identical(call(seed), first) for seed in range(1, SEEDS)):
            return
    except Raised:
        return
    finally:
        objects.restore()
        load_state(model, state)
    wrong = "what forward returns depends on random numbers that are not torch's"
    wanted = "torch.rand and the like, or numbers that the constructor draws"
    raise TaskError(doing, wrong, "those of " + " and ".join(sorted(whose)), wanted)
