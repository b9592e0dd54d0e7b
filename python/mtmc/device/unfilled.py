"""Modules built without drawing their large weights, for where other values come anyway.

Drawing a gigabyte of random numbers on the host takes seconds. In `Unfilled` large random fills are left out: the memory is
never touched. What a constructor makes of such memory is followed, so that a module that keeps something of it beside its
state (a random constant, a packed copy, a number) is built again as its author wrote it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection
from typing import Any

import torch
from torch.nn.parameter import UninitializedTensorMixin
from torch.overrides import TorchFunctionMode

from mtmc.wire.plain import plain_tensors

LARGE = 1 << 16  # elements
FILLS = frozenset(
    "uniform_ normal_ trunc_normal_ kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_".split()
)
FACTORIES = {torch.rand: torch.empty, torch.randn: torch.empty}
ALIKE = {torch.rand_like: torch.empty_like, torch.randn_like: torch.empty_like}
TRUNCATED = "_no_grad_trunc_normal_"
READS = frozenset("item tolist numpy __bool__ __int__ __float__ __index__ __array__ equal allclose".split())


def has_shape(value: Any) -> bool:
    """Is it a tensor, and none whose shape the first call gives (of a LazyLinear)?"""
    return isinstance(value, torch.Tensor) and not isinstance(value, UninitializedTensorMixin)


class Unfilled(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.read = False  # has a value been looked at that is not there?
        self._memory: set[int] = set()  # that holds no values, or what was computed of none
        self._made: list[weakref.ref[torch.Tensor]] = []

    def __enter__(self) -> Unfilled:
        self._truncated = getattr(torch.nn.init, TRUNCATED, None)  # it looks at what it draws, and draws again
        if self._truncated is not None:
            setattr(torch.nn.init, TRUNCATED, self._truncated_normal)
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self._truncated is not None:
            setattr(torch.nn.init, TRUNCATED, self._truncated)

    def _truncated_normal(self, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return self._note(tensor) if tensor.numel() >= LARGE else self._truncated(tensor, *args, **kwargs)

    def without_values(self, tensor: torch.Tensor) -> bool:
        return (
            has_shape(tensor) and tensor.layout == torch.strided and tensor.untyped_storage().data_ptr() in self._memory
        )

    def _note(self, tensor: torch.Tensor) -> torch.Tensor:
        self._memory.add(tensor.untyped_storage().data_ptr())
        self._made.append(weakref.ref(tensor))
        return tensor

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if func in FACTORIES or func in ALIKE:
            return self._factory(func, args, kwargs)
        target = args[0] if args else kwargs.get("tensor")
        if has_shape(target) and target.numel() >= LARGE and not target.is_meta:
            if name in FILLS or (name.endswith("_") and not name.endswith("__") and self.without_values(target)):
                return self._note(target)
        if name == "clone" and self.without_values(target):  # as copies of a layer are made
            return self._note(torch.empty_like(target))
        held = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        of_nothing = any(map(self.without_values, held))
        self.read = self.read or (of_nothing and name in READS)
        result = func(*args, **kwargs)
        for made in result if isinstance(result, (tuple, list)) else (result,) if of_nothing else ():
            if of_nothing and isinstance(made, torch.Tensor) and not made.is_meta:
                self._note(made)
        return result

    def _factory(self, func: Any, args: Any, kwargs: Any) -> Any:
        empty = FACTORIES.get(func) or ALIKE[func]
        plain = {name: value for name, value in kwargs.items() if name not in ("generator", "out")}
        shape = empty(*args, **{**plain, "device": "meta"})
        if shape.numel() < LARGE or kwargs.get("out") is not None:
            return func(*args, **kwargs)
        return self._note(empty(*args, **plain))

    def lacking(self, model: torch.nn.Module) -> set[str] | None:
        """The entries of the state that have no values yet; None when something else lacks them, too."""
        state = model.state_dict(keep_vars=True)
        found = {
            name for name, value in state.items() if isinstance(value, torch.Tensor) and self.without_values(value)
        }
        known = {state[name].untyped_storage().data_ptr() for name in found}
        alive = [tensor for tensor in (made() for made in self._made) if tensor is not None]
        beside = [*alive, *plain_tensors(model).values(), *model.buffers()]
        if self.read or any(self.without_values(t) and t.untyped_storage().data_ptr() not in known for t in beside):
            return None
        return found


def built(make: Callable[[], Any], given: Collection[str] | None = None) -> tuple[Any, set[str]]:
    """The module that `make` returns, and the entries of its state without values. All of those must get some: by their
    names in `given`, or as many as it has. Where it cannot be had so, it is made with all its values."""
    with Unfilled() as mode:
        model = make()
    lacking = mode.lacking(model) if isinstance(model, torch.nn.Module) else None
    if lacking is not None and (given is None or lacking <= set(given) or len(given) == len(model.state_dict())):
        return model, lacking
    del model
    return make(), set()
