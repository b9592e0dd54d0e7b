"""Dispatch modes: code that sees every operator that torch is asked for."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):
    """One that does not bring in torch's compiler, seconds in every process, where nobody else has. Torch hides modes from its
    compiler, and imports it for that when an operator is met first."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch asks while the class is made

    def __enter__(self) -> Any:
        cls, name = type(self), "__torch_dispatch__"
        if "torch._dynamo" in sys.modules and "hidden" not in cls.__dict__:
            setattr(cls, name, torch._disable_dynamo(cls.__dict__[name], recursive=True))
            cls.hidden = True
        return super().__enter__()
