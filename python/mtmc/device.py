"""What differs between devices when a call is timed: the clock, waiting for the work, and emptying the caches.

A GPU joins by another class with the same methods, chosen in `current_device`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import torch

SWEEP_BYTES = 64 << 20  # larger than the caches of the machines we know
COPY_BYTES = 256 << 20
WAKE_NS, WAKE_ELEMENTS = 2_000_000, 1 << 16  # elements: enough for torch to use all threads
WAKE_CALLS = 400  # at most: the clock may be a candidate's


class Device(Protocol):
    name: str

    def timed(self, call: Callable[[], Any]) -> tuple[Any, int]:
        """The call's result and its duration in ns, all of its work included."""

    def flush(self) -> None:
        """Replaces what the caches hold."""

    def wake(self) -> None:
        """Gets the device ready for work that comes at once, as it is within a larger program."""

    def bandwidth(self) -> float:
        """Bytes per second that a large copy reads and writes, the best of several."""


class Cpu:
    name = "cpu"

    def __init__(self) -> None:
        self.clock = time.perf_counter_ns  # kept: the candidate may replace the module's
        self.sweep: torch.Tensor | None = None

    def timed(self, call: Callable[[], Any]) -> tuple[Any, int]:
        start = self.clock()
        result = call()
        return result, self.clock() - start

    def flush(self) -> None:
        if self.sweep is None:
            self.sweep = torch.zeros(SWEEP_BYTES // 4)
        self.sweep.add_(1.0)

    def wake(self) -> None:
        # A thread that was asleep may share a core with the one that woke it until the system moves it, milliseconds later.
        assert self.sweep is not None
        until = self.clock() + WAKE_NS
        for _ in range(WAKE_CALLS):
            self.sweep[:WAKE_ELEMENTS].add_(1.0)
            if self.clock() >= until:
                break

    def bandwidth(self) -> float:
        source = torch.zeros(COPY_BYTES // 4)
        target = torch.zeros_like(source)
        best = min(self.timed(lambda: target.copy_(source))[1] for _ in range(5))
        return 2 * COPY_BYTES / (best * 1e-9)


def current_device() -> Device:
    return Cpu()
