"""Dispatch modes: code that sees every operator that torch is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):
    """Subclasses define `watch`, as `__torch_dispatch__` is defined. Torch hides a mode from its compiler, which it imports for that
    when the first operator is met: seconds in every process. This one is hidden only where somebody else brought the compiler."""

    hidden: Callable[..., Any]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.hidden = torch._disable_dynamo(cls.watch, recursive=True)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch asks while the class is made

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (self.hidden if "torch._dynamo" in sys.modules else self.watch)(func, types, args, kwargs)
