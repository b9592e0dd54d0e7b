"""One timed call at a time, under command of the judge. Candidate and baselines are timed by this same code."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from mtmc import blobs
from mtmc.device import Device


def overwrite(arguments: list[Any], values: list[Any]) -> None:
    """Puts values where the arguments lie, unnoticed by their version counters."""
    for old, new in zip(blobs.leaves(arguments), blobs.leaves(values), strict=True):
        if isinstance(old, torch.Tensor):
            old.data.copy_(new)


class Stopwatch:
    def __init__(self, device: Device) -> None:
        self.device = device
        self.arguments: list[Any] | None = None
        self.result: Any = None

    def arm(self, draw: Path, seed: int, same_addresses: bool) -> None:
        """New values for the next call, at new addresses or at those of the last call; then cold caches."""
        self.result = None
        fresh = blobs.load(draw)  # before the old ones go, so that they cannot lie at the same addresses
        if same_addresses and self.arguments is not None:
            overwrite(self.arguments, fresh)
        else:
            self.arguments = fresh
        torch.manual_seed(seed)
        self.device.flush()

    def go(self, call: Callable[..., Any]) -> int:
        """Makes the call and keeps its result; the duration in ns."""
        arguments = self.arguments
        assert arguments is not None
        gc.disable()
        try:
            self.result, elapsed = self.device.timed(lambda: call(*arguments))
        finally:
            gc.enable()
        return elapsed
