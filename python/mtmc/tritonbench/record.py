"""What the calls of a function were: which arguments each had, what came back, and which tensors it wrote to."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mtmc.tritonbench.decisions import Decisions
from mtmc.tritonbench.dispatch import shown_call, tensors_of
from mtmc.wire.task_error import first_line


@dataclass
class Call:
    key: str  # see shown_call
    arguments: list[torch.Tensor]  # the tensors among them, as they were before the call
    changed: list[int]  # the places of those that the call wrote to
    returns: int | None  # the place of the one of them that it returned, itself
    structure: str  # of the result
    leaves: list[Any]  # of the result, then the new values of what was changed
    raised: str  # the error that ended it, or ""
    decisions: list[bool]  # the ways it took where one hung on a tensor's values

    def to_plain(self) -> dict[str, Any]:
        """For torch.save, without a class of ours."""
        return dict(vars(self))


def bound(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """All arguments of a call by name, defaults included. A TypeError: they do not fit."""
    found = signature.bind(*args, **kwargs)
    found.apply_defaults()
    return dict(found.arguments)


def call_with(function: Callable[..., Any], signature: inspect.Signature, arguments: dict[str, Any]) -> Any:
    whole = inspect.BoundArguments(signature, arguments)  # type: ignore[arg-type]
    return function(*whole.args, **whole.kwargs)


def with_tensors(arguments: dict[str, Any], tensors: list[torch.Tensor]) -> dict[str, Any]:
    """The same arguments with other tensors in the places of theirs."""
    given = iter(tensors)
    return pytree.tree_map(lambda leaf: next(given) if isinstance(leaf, torch.Tensor) else leaf, arguments)


def is_as_before(tensor: torch.Tensor, before: torch.Tensor) -> bool:
    """Bit by bit: not everything that writes to a tensor raises its version."""
    if tensor.shape != before.shape:
        return False
    bits = [one.contiguous().reshape(-1).view(torch.uint8) for one in (kept(tensor), before)]
    return torch.equal(*bits)


def complex_places(call: Call) -> list[int]:
    """Of the leaves that a kernel for this call returns: the tensor that the function returns and has changed is one of them."""
    leaves = call.leaves[1:] if call.returns is not None else call.leaves
    return [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.is_complex()]


def kept(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().clone().cpu()
    return leaf if leaf is None or type(leaf) in (bool, int, float, complex, str) else f"a {type(leaf).__name__}"


class Recorder:
    """Keeps every call of a function. `with recorder.of(f)`: the function to be called instead."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            arguments = bound(signature, args, kwargs)
            tensors = tensors_of(arguments)
            call = Call(shown_call(arguments), [kept(tensor) for tensor in tensors], [], None, "", [], "", [])
            self.calls.append(call)
            versions = [tensor._version for tensor in tensors]
            try:
                with Decisions() as decisions:
                    result = function(*args, **kwargs)
            except Exception as error:
                call.raised = first_line(error)
                raise
            call.decisions = decisions.taken
            call.changed = [
                i
                for i, tensor in enumerate(tensors)
                if tensor._version != versions[i] or not is_as_before(tensor, call.arguments[i])
            ]
            call.returns = next((i for i in call.changed if tensors[i] is result), None)
            leaves, spec = pytree.tree_flatten(result)
            call.structure = str(spec)
            call.leaves = [kept(leaf) for leaf in [*leaves, *(tensors[i] for i in call.changed)]]
            return result

        return recorded
