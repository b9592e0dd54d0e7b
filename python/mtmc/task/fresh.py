"""Memory that `get_inputs` asks for without saying what shall be in it (`torch.empty`, for an `out` argument): what lies there hangs
on what the process freed before, and arguments must be the same whenever they are drawn from a seed."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

MAKERS = frozenset(
    [torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty, torch.Tensor.new_empty_strided]
)


class FreshMemory(TorchFunctionMode):
    """Floats get one number of the seed's, between 1 and 2, so that code that adds to what is there is found out; all else gets 0."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.level = random.Random(seed).uniform(1, 2)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in MAKERS and isinstance(result, torch.Tensor):
            result.detach().fill_(self.level if result.is_floating_point() or result.is_complex() else 0)
        return result
