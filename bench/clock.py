"""How benchmarks time one call: cold caches, then the call alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

SWEEP_BYTES = {"cpu": 64 << 20, "cuda": 256 << 20}  # larger than the caches
SLEEP_CYCLES = 400_000  # of the GPU, about 0.2 ms


class Clock:
    """On a GPU: device events around the call. `ahead`: the device waits until the host has launched, so that only its own
    time counts; without it a call that the host launches too slowly is as slow as its launches."""

    def __init__(self, device: str, ahead: bool = False) -> None:
        self.device, self.ahead = device, ahead
        self.sweep = torch.empty(SWEEP_BYTES[device], dtype=torch.uint8, device=device)
        self.count = 0

    def ms(self, call: Callable[[], object]) -> float:
        self.count += 1
        self.sweep.fill_(self.count % 256)
        if self.device == "cpu":
            start = time.perf_counter_ns()
            call()
            return (time.perf_counter_ns() - start) / 1e6
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        if self.ahead:
            torch.cuda._sleep(SLEEP_CYCLES)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)
