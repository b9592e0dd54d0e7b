"""Branches of golden code that hang on a tensor's values. A kernel cannot take them: it is for one way through them, and returns
the conditions, which whoever calls it compares with that way."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class Decisions(TorchFunctionMode):
    """While it is on, `bool(tensor)` is kept in `taken` with its condition in `conditions`, and answered by `given` where that is
    no None."""

    def __init__(self, given: list[bool] | None = None) -> None:
        super().__init__()
        self.given = given
        self.taken: list[bool] = []
        self.conditions: list[torch.Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.allclose:  # a Python bool, whose condition is no tensor
            return self.decided(torch.isclose(*args, **(kwargs or {})).all())
        if func is torch.Tensor.__bool__:
            return self.decided(args[0])
        return func(*args, **(kwargs or {}))

    def decided(self, condition: torch.Tensor) -> bool:
        if self.given is None:
            self.taken.append(bool(condition.item()))
        elif len(self.taken) == len(self.given):
            raise RuntimeError(f"more than {len(self.given)} branches hang on a tensor's values")
        else:
            self.taken.append(self.given[len(self.taken)])
        self.conditions.append(condition.clone())
        return self.taken[-1]
