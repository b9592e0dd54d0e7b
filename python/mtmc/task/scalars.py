"""Python numbers that a forward reads from its module's own tensors: `self.eps.item()`, `if self.gate > 0`.

Such a number depends on nothing but the state, so a trace may hold it as a constant, and a judge must not exchange it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from mtmc.wire.plain import State

LARGEST = 64  # elements of what is followed
READS = frozenset("item tolist __bool__ __int__ __float__ __index__ __complex__".split())
WRITES = frozenset(
    "__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__".split()
)
RANDOM = frozenset(
    "bernoulli multinomial normal poisson binomial dropout alpha_dropout rrelu empty_like new_empty".split()
)


class ScalarReads(TorchFunctionMode):
    """While it is entered, numbers read from the followed tensors, or from what is computed from them alone, are those of
    the values they were given; `names` says which of them were read. What is written to is followed no further."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self._followed: dict[
            int, tuple[Any, torch.Tensor, frozenset[str]]
        ] = {}  # by identity: itself, its value, sources

    def follow(self, tensors: State, values: State) -> None:
        """Tensors as forward will meet them, and what they hold."""
        for name, tensor in tensors.items():
            if tensor.numel() <= LARGEST:
                self._followed[id(tensor)] = (tensor, values[name], frozenset([name]))

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if name in READS and id(args[0]) in self._followed:
            _, value, sources = self._followed[id(args[0])]
            self.names |= sources
            with _disable_current_modes():
                return func(value, *args[1:], **kwargs)
        result = func(*args, **kwargs)
        tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if name.endswith("_") and not name.endswith("__") or name in WRITES or "out" in kwargs:
            self._forget([kwargs.get("out", args[0] if args else None)])
        elif tensors and all(id(tensor) in self._followed for tensor in tensors) and self._exact(name, result):
            self._follow_result(func, args, kwargs, result)
        return result

    def _exact(self, name: str, result: Any) -> bool:
        leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        small = all(isinstance(n, int) and n <= LARGEST for n in (leaf.numel() for leaf in leaves))
        return bool(leaves) and small and not name.startswith("rand") and name not in RANDOM

    def _follow_result(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        sources: set[str] = set()

        def value_of(tensor: torch.Tensor) -> torch.Tensor:
            sources.update(self._followed[id(tensor)][2])
            return self._followed[id(tensor)][1]

        args, kwargs = pytree.tree_map_only(torch.Tensor, value_of, (args, kwargs))
        with _disable_current_modes():
            values = func(*args, **kwargs)
        for leaf, value in zip(pytree.tree_leaves(result), pytree.tree_leaves(values), strict=True):
            if isinstance(leaf, torch.Tensor):
                self._followed[id(leaf)] = (leaf, value, frozenset(sources))

    def _forget(self, tensors: Iterable[Any]) -> None:
        """And all that may share memory with them."""
        written: set[str] = set()
        for tensor in tensors:
            written |= self._followed.get(id(tensor), (None, None, frozenset()))[2]
        self._followed = {key: known for key, known in self._followed.items() if not known[2] & written}
