"""The user's module as it is written: what it hands to torch.compile runs as plain Python.

Dynamo loses a method's self under a TorchFunctionMode, and what inductor makes rounds, draws and orders as no eager call does. So
the reference is run like this. Timed calls of the module are not: `eager` is what its user has, compiled parts included.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext

import torch


def uncompiled() -> AbstractContextManager[object]:
    """While it is entered nothing is compiled, nor is what was. Free where nobody has loaded dynamo, which takes seconds."""
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()
