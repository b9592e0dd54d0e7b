"""A case of a TritonBench task: one call of its function as a module of its own, whose arguments are drawn by running the
tests up to that call. Imported by the task files that split.py writes."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mtmc.tritonbench.decisions import Decisions
from mtmc.tritonbench.dispatch import as_real, is_device, tensors_of
from mtmc.tritonbench.record import bound, call_with, with_tensors
from mtmc.tritonbench.task_file import importable
from mtmc.wire.task_error import needs_gpu


class Reached(BaseException):
    """The call that was waited for has come. No Exception: tests may catch those."""


class Case:
    """The call number `call` (from 0) that the `tests` of the task `name` make of `function`; `changed`, `returns` and `decisions` as
    record.Call has them."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        tests: str,
        call: int,
        changed: list[int],
        returns: int | None,
        decisions: list[bool],
    ) -> None:
        self.function, self.name, self.tests, self.call = function, name, tests, call
        self.changed, self.returns, self.decisions = changed, returns, decisions
        self.where = torch.device("cpu")  # of the module
        self.signature = inspect.signature(function)
        meta = torch.device("meta")  # of tensors nothing but the type is asked for
        self.given = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(meta), self.replayed())

    def replayed(self) -> dict[str, Any]:
        """The arguments of the call, drawn anew. An earlier call that only a GPU can compute is None to the tests."""
        found: dict[str, Any] = {}
        left = self.call

        def probe(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            if left == 0:
                found.update(bound(self.signature, args, kwargs))
                raise Reached
            left -= 1
            try:
                return self.function(*args, **kwargs)
            except RuntimeError as error:
                if not needs_gpu(error):
                    raise
                return None

        namespace = dict(self.function.__globals__)
        namespace[self.function.__name__] = probe
        quiet = contextlib.redirect_stdout(io.StringIO())
        with contextlib.suppress(Reached), quiet, importable(self.name, namespace):
            exec(compile(self.tests, "the tests", "exec"), namespace)
        if not found:
            raise RuntimeError(f"the tests call {self.function.__name__} only {self.call - left} times")
        return found

    def draw(self) -> list[torch.Tensor]:
        """The tensors among the arguments."""
        return [as_real(tensor.detach()) for tensor in tensors_of(self.replayed())]

    def moved_by(self, fn: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """As torch.nn.Module._apply has it, by which modules are moved: this one has no tensor that would say where it is."""
        self.where = fn(torch.empty(0, device=self.where)).device

    def compute(self, *tensors: torch.Tensor) -> Any:
        """What the function makes of them: its result, the new values of what it writes to, and the conditions of its branches; each
        only where there is one. Whatever device the tests name, it is told the one that the tensors are on, or its module where there are none."""
        wanted = tensors_of(self.given)
        where = tensors[0].device if tensors else self.where
        given = [
            torch.view_as_complex(one) if like.is_complex() else one for one, like in zip(tensors, wanted, strict=True)
        ]
        given = [tensor.clone() if place in self.changed else tensor for place, tensor in enumerate(given)]
        with Decisions(self.decisions) as decisions:
            arguments = pytree.tree_map_only(is_device, lambda _: where, self.given)
            result = call_with(self.function, self.signature, with_tensors(arguments, given))
        parts = ([result] if self.returns is None else []) + [given[place] for place in self.changed]
        parts += decisions.conditions
        return pytree.tree_map(as_real, parts[0] if len(parts) == 1 else tuple(parts))
