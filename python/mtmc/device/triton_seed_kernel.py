"""The kernel of triton_seed.py, apart because importing it needs Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _copy(source, target, count, block: tl.constexpr):
    place = tl.arange(0, block)
    inside = place < count
    tl.store(target + place, tl.load(source + place, mask=inside), mask=inside)


def run(x: torch.Tensor) -> None:
    run_into(x, torch.empty_like(x))


def run_into(x: torch.Tensor, y: torch.Tensor) -> None:
    _copy[(1,)](x, y, x.numel(), block=64)
