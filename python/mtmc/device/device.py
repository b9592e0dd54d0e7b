"""What differs between devices when a call is timed: the clock, waiting for the work, emptying the caches, and poisoning
memory. Which device a candidate is judged on is part of the judge's requests; no process guesses it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Protocol

import torch

from mtmc.device import kernel_calls
from mtmc.device.memory import NO_MEMORY, POISON

SWEEP_BYTES = 64 << 20  # larger than the caches of the machines we know; the judge may say otherwise
COPY_BYTES = 256 << 20
WAKE_NS, WAKE_ELEMENTS = 2_000_000, 1 << 16  # elements: enough for torch to use all threads
WAKE_CALLS = 400  # at most: the clock may be a candidate's


class Device(Protocol):
    name: str
    lends: bool  # do other processes look at its memory where it lies?
    where: torch.device
    bytes: int  # of its own memory; 0: it has none

    def synchronize(self) -> None:
        """Waits for all work; raises when a kernel failed."""

    def timed(self, call: Callable[[], Any]) -> tuple[Any, int]:
        """The call's result and its duration in ns, all of its work included."""

    def delay(self, seconds: float) -> None:
        """Before a call whose order is checked: what it launches can begin only some time after it has returned."""

    def flush(self) -> None:
        """Replaces what the caches hold."""

    def wake(self) -> None:
        """Gets the device ready for work that comes at once, as it is within a larger program."""

    def place(self, span: torch.Tensor) -> dict[str, Any]:
        """Where a row of bytes lies, for whoever reads or writes it from another process: `at`, `bytes`, and on a GPU what it
        takes to get there."""

    def bandwidth(self) -> float:
        """Bytes per second that a large copy reads and writes, the best of several."""

    def confine(self) -> None:
        """This process is a candidate's: what it may take of the device's memory."""

    def poison(self, on: bool, expected_bytes: int = 0) -> None:
        """From now on (or no longer) memory that is handed out is filled with a pattern."""

    def clean(self) -> None:
        """Until `poison` says otherwise memory that is handed out holds zeros, as a new process's does. Not on a GPU."""

    def ready(self) -> None:
        """Before each call in poisoned memory."""


class Cpu:
    name = "cpu"
    lends = False
    where = torch.device("cpu")
    bytes = 0

    def __init__(self) -> None:
        self.clock = time.perf_counter_ns  # kept: the candidate may replace the module's
        self.sweep: torch.Tensor | None = None
        self.spark = torch.zeros(WAKE_ELEMENTS)
        # Where two threads make a process's first call of MKL's vector functions at once, one of them may get results that err
        # by 2e-5 (torch.tanh: 5 of 150 processes; none after a call by one thread). Who is forked from here is ready, too.
        torch.exp(torch.zeros(1))

    def synchronize(self) -> None:
        pass  # calls return when their work is done

    def timed(self, call: Callable[[], Any]) -> tuple[Any, int]:
        start = self.clock()
        result = call()
        return result, self.clock() - start

    def delay(self, seconds: float) -> None:
        pass

    def flush(self) -> None:
        if self.sweep is None:
            self.sweep = torch.zeros(int(os.environ.get("MTMC_SWEEP_BYTES", SWEEP_BYTES)) // 4)
        self.sweep.add_(1.0)

    def wake(self) -> None:
        # A thread that was asleep may share a core with the one that woke it until the system moves it, milliseconds later; so
        # may the only thread of a process.
        until = self.clock() + WAKE_NS
        for _ in range(WAKE_CALLS):
            self.spark.add_(1.0)
            if self.clock() >= until:
                break

    def place(self, span: torch.Tensor) -> dict[str, Any]:
        return {"at": span.data_ptr(), "bytes": span.numel()}

    def bandwidth(self) -> float:
        source = torch.zeros(COPY_BYTES // 4)
        target = torch.zeros_like(source)
        best = min(self.timed(lambda: target.copy_(source))[1] for _ in range(5))
        return 2 * COPY_BYTES / (best * 1e-9)

    def confine(self) -> None:
        pass  # the sandbox does it

    def poison(self, on: bool, expected_bytes: int = 0) -> None:
        kernel_calls.poison_memory(POISON if on else None)

    def clean(self) -> None:
        kernel_calls.poison_memory(0)

    def ready(self) -> None:
        pass  # malloc itself fills what it hands out


def device_named(name: str) -> Device:
    """The device of a request: cpu or cuda. Making the latter initialises CUDA in this process."""
    if name == "cpu":
        return Cpu()
    if name == "cuda":
        from mtmc.device.cuda import Cuda

        return Cuda()
    raise ValueError(f"no device is called {name}")


def made_on(where: torch.device, make: Callable[[], Any]) -> Any:
    """What `make` returns, made on a device: gigabytes that are drawn on the host and moved take seconds. Code that cannot
    work with another default device runs on the host, from the start again; whoever calls moves what it made."""
    if where.type == "cpu":
        return make()
    try:
        with where:
            return make()
    except Exception as error:
        if NO_MEMORY.search(str(error)):
            raise
        return make()
