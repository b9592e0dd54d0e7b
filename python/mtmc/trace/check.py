"""The traced graph against eager, before it is believed, where that is cheap."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mtmc.device.random_state import random_state
from mtmc.task.task import Task, seed_everything
from mtmc.trace.refusal import computes_gradients
from mtmc.trace.structure import taken_apart
from mtmc.wire.by_name import by_place
from mtmc.wire.plain import plain_tensors
from mtmc.wire.task_error import TaskError, first_line, line_in, needs_gpu

DRAWS = (1, 2)
CHEAP_SECONDS = 1.0  # of a call of eager
MOST_SECONDS = 3.0  # after which no further call is compared
NO_GRADIENTS = "does not require grad"  # what torch says under no_grad to who asks for them
PIECE = 1 << 26  # elements that are compared at a time
TOLERANCE = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}  # norm-wise; everything else 1e-6


def clone_inputs(inputs: list[Any]) -> list[Any]:
    """Copies, so that one tensor passed twice is two inputs."""
    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), inputs)


def difference(ours: Any, theirs: Any) -> str:
    """Why two outputs differ, or an empty text. Integers exactly, floats by norm."""
    if not isinstance(theirs, torch.Tensor):
        return "" if type(ours) is type(theirs) and ours == theirs else f"{ours!r} instead of {theirs!r}"
    if not isinstance(ours, torch.Tensor) or ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return "another type or shape"
    if torch.equal(ours, theirs):
        return ""
    if not (theirs.is_floating_point() or theirs.is_complex()):
        return f"{int((ours != theirs).sum())} of {theirs.numel()} elements differ"
    wide = torch.complex128 if theirs.is_complex() else torch.float64
    off, norm = 0.0, 0.0  # in pieces, since copies in double may not fit beside them
    for ours_now, theirs_now in zip(ours.reshape(-1).split(PIECE), theirs.reshape(-1).split(PIECE), strict=True):
        a, b = ours_now.detach().to(wide), theirs_now.detach().to(wide)
        finite = torch.isfinite(b)
        if not bool(finite.all()) or not bool(torch.isfinite(a).all()):
            if not torch.equal(finite, torch.isfinite(a)) or not torch.equal(
                torch.nan_to_num(a[~finite]), torch.nan_to_num(b[~finite])
            ):
                return "other NaN or infinite elements"
            a, b = a[finite], b[finite]
        off, norm = math.hypot(off, float((a - b).norm())), math.hypot(norm, float(b.norm()))
    error = off / max(norm, 1e-300)
    return "" if error <= TOLERANCE.get(theirs.dtype, 1e-6) else f"relative error {error:.2g}"


def standing(state: dict[str, torch.Tensor]) -> tuple[list[tuple[int, int]], bytes]:
    """Another one after a call that wrote to the state or drew random numbers."""
    return [(value.data_ptr(), value._version) for value in state.values()], bytes(random_state().tolist())


def check_against_eager(
    task: Task, eager: torch.nn.Module, traced: Callable[..., Any], traced_state: Callable[[], dict[str, torch.Tensor]]
) -> set[int] | None:
    """Two fresh draws, each called twice with state carried over: outputs and state must agree. A graph that changed neither
    its state nor the random generator would return the same again. Returns the tensors, by their place among those returned,
    that are contiguous only in eager (it has faster ways of its own, which are not traced). Calls that take long (a recurrent
    network over hundreds of steps) are compared once, or not at all: None, as where eager runs on a GPU only."""
    disordered: set[int] = set()
    began = time.monotonic()
    called = by_place(eager, task.by_name)
    doing = f"checking the trace of {task.name}"
    for seed in DRAWS:
        inputs = task.make_inputs(seed)
        again = True  # does the traced graph have more to say?
        for call in (1, 2):
            if (seed, call) != (DRAWS[0], 1) and time.monotonic() - began > MOST_SECONDS:
                return disordered
            seed_everything(seed + call)
            start = time.monotonic()
            try:
                with torch.no_grad():  # as the judge calls it: some modules have faster ways then
                    theirs, their_spec = pytree.tree_flatten(taken_apart(called(*clone_inputs(inputs))))
            except Exception as error:
                if needs_gpu(error):
                    return None
                if NO_GRADIENTS in str(error):
                    raise computes_gradients(task, line_in(error, str(task.namespace.__file__))) from error
                raise TaskError(f"running {task.attr} under torch.no_grad()", first_line(error)) from error
            if (seed, call) == (DRAWS[0], 1) and time.monotonic() - start > CHEAP_SECONDS:
                return None
            seed_everything(seed + call)
            if again:
                before = standing(traced_state())
                try:
                    with torch.no_grad():  # some operators on complex numbers have no derivative
                        ours, our_spec = pytree.tree_flatten(traced(*clone_inputs(inputs)))
                except Exception as error:
                    wrong = "the traced graph fails on a fresh draw of the inputs"
                    raise TaskError(doing, wrong, first_line(error)) from error
                again = standing(traced_state()) != before
            where = f"draw {seed}, call {call}"
            if our_spec != their_spec:
                raise TaskError(doing, "the traced graph returns another structure than eager", where)
            for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                if why := difference(a, b):
                    wrong = "the traced graph and eager disagree: forward does something that a trace cannot hold"
                    raise TaskError(doing, wrong, f"{why} in output {index}, {where}")
            both = [pair for pair in zip(ours, theirs, strict=True) if isinstance(pair[1], torch.Tensor)]
            disordered |= {i for i, (a, b) in enumerate(both) if b.is_contiguous() and not a.is_contiguous()}
            state = traced_state()
            for name, b in (eager.state_dict() | plain_tensors(eager)).items():
                if name in state and (why := difference(state[name], b)):
                    raise TaskError(doing, "the traced graph leaves another state", f"{why} in {name}, {where}")
    return disordered
