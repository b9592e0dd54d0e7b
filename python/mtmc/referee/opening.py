"""What is found out of a task once, when it is opened: other weights for it, and which entries of its state move."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import torch

from mtmc.referee.budgets import Draw
from mtmc.referee.draws import seed_of
from mtmc.referee.kept_draws import KeptDraws
from mtmc.referee.reference import Eager, EagerError, State
from mtmc.referee.weights import second_weights
from mtmc.wire.arguments import load_arguments
from mtmc.wire.task_error import TaskError, first_line

FEWEST_BEFORE, MOST_BEFORE = 8, 1000  # calls


def choose_second(draws: KeptDraws) -> None:
    """Other weights: of both signs where the module is as exact with them, else of the signs that they have."""
    reference, states = draws.reference, draws.states
    names = [name for name, _ in reference.model.named_parameters()]
    for signed in (names, []):
        seed = seed_of(draws.session, "second weights")
        state = second_weights(states["first"], seed, reference.scalars.names, signed)
        states["second"] = reference.held(state)
        if not signed or _errs(draws, "weights-0") <= 10 * max(_errs(draws, "task-0"), 1e-6):
            break
        draws.forget("weights-0")


def moving_entries(draws: KeptDraws, eager: Eager) -> list[str]:
    """The entries of the state that calls change: on the task's own arguments, on larger or shifted ones, or with other weights.
    A running mean of what is 0 there stays 0, and so does what is made of the weights alone."""
    reference = draws.reference
    moving = list(eager.state)
    writes = bool(reference.plain) or any(True for _ in reference.model.buffers())
    for name, state in (("scaled-up-0", "first"), ("offset-0", "first"), ("task-0", "second")) if writes else ():
        try:
            arguments = draws.arguments(name)
            other = reference.run_eager(arguments, draws.states[state], draws.random_seed(name), 1)
        except (EagerError, TaskError, torch.OutOfMemoryError):  # who asks for that draw finds out why
            continue
        moving += [entry for entry in other.state if entry not in moving]
    return moving


def timed_state(first: State, moving: list[str], eager: Eager) -> dict[str, State]:
    """The state `timed` that timed calls begin with: what eager's calls have made of the first one, which is often empty, so that
    who leaves out what comes of nothing gains no time by it. What grows begins as it was."""
    now = eager.state
    ran = {name: now[name] for name in moving if name in now and now[name].shape == first[name].shape}
    ran = {name: value for name, value in ran.items() if bool(torch.isfinite(value).all())}
    return {"timed": first | ran} if ran else {}


def late_state(draws: KeptDraws, moving: list[str], run: Draw) -> dict[str, State]:
    """The state `repeated` with which calls in a row begin: its counters say that hundreds of calls were made before. None where
    there are no counters, or where the module fails then."""
    first, later = draws.states["first"], seed_of(draws.session, "calls before") % MOST_BEFORE + FEWEST_BEFORE
    counters = [
        n for n in moving if first[n].numel() == 1 and not first[n].is_floating_point() and first[n].itemsize >= 4
    ]
    if not counters:
        return {}
    state = first | {name: first[name] + later for name in counters}
    try:
        draws.reference.run_eager(run.arguments, state, run.seed, FEWEST_BEFORE)
    except (EagerError, torch.OutOfMemoryError):
        return {}
    return {"repeated": state}


def _errs(draws: KeptDraws, name: str) -> float:
    """Eager's largest relative error on a draw; infinite where it raises, or returns what is not finite."""
    try:
        draw = draws.draw(name)
    except EagerError:
        return math.inf
    found = [0.0]
    for e, cut, t in draw.rows():
        if isinstance(e, torch.Tensor) and e.is_floating_point() and e.numel():
            error = float((cut(e).to(t.dtype) - t).norm() / t.norm().clamp(min=1e-300))
            found.append(error if math.isfinite(error) else math.inf)
    return max(found)


def save_constructor(task: Any, folder: Path) -> None:
    """Writes what a guest makes a candidate with: the constructor's arguments, and the module of the user's file, which it has not."""
    arguments = ([], {}) if task.kind == "function" else task.constructor_arguments()
    try:
        data = pickle.dumps(arguments)
        load_arguments(data, task.namespace.__name__, None)
    except Exception as error:
        raise TaskError(
            "passing the constructor's arguments to a candidate",
            "they cannot be rebuilt without the file that defines their classes",
            first_line(error),
            "plain values, tensors, or objects that only hold attributes",
        ) from error
    (folder / "init.pickle").write_bytes(data)
    (folder / "hidden").write_text(task.namespace.__name__)
