"""How many elements, and how many slices of the last axis, err by how much of themselves.

A norm is what its largest elements are: all of a small term may be missing beside a large one. Counts are not: the judge
compares a candidate's with eager's.
"""

from __future__ import annotations

from typing import Any

import torch

STEPS = 9  # counts are of relative errors of at least 2^0, 2^-2, ..., 2^-16
WHOLE_ROW = 4  # elements that are not too small to tell make a row more than them
ROUNDING = 2.0**-44  # of the largest element of the truth: below it double has rounded, too


def tails(difference: torch.Tensor, t: torch.Tensor, smallest: float, top: float, copied: bool) -> dict[str, Any]:
    """`difference` and `t` in double, of the output's shape or flat; `smallest`: what eager's type holds with all its digits;
    `top`: the largest |t|; `copied`: arguments hold the same rows many times, and what errs alike counts once."""
    floor = max(smallest, top * ROUNDING)
    size = t.abs()
    found = {"elements": _counts(difference.abs(), size, floor, copied)}
    if t.dim() > 1 and t.shape[-1] > 1:
        off, norm = (torch.linalg.vector_norm(x, dim=-1) for x in (difference, t))
        if t.shape[-1] >= WHOLE_ROW:  # a row that is 0 but for an element or two is near 0 as often as they are
            norm = torch.where((size > floor).sum(-1) >= WHOLE_ROW, norm, 0.0)
        found["rows"] = _counts(off, norm, floor * t.shape[-1] ** 0.5, copied)
    return found


def added(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Of an output that was measured in pieces."""
    return {name: [sum(counts) for counts in zip(*(p[name] for p in parts), strict=True)] for name in parts[0]}


def smallest_whole(dtype: torch.dtype) -> float:
    """Some larger than the smallest normal number: kernels may flush what is smaller, before their last step, too."""
    info = torch.finfo(dtype)
    return info.smallest_normal if dtype == torch.float16 else info.smallest_normal * 2.0**10


def _counts(off: torch.Tensor, size: torch.Tensor, floor: float, copied: bool) -> list[int]:
    """First how many there are that are not too small to tell, or all where none errs by much; then of how many off/size is at
    least 4^-i. `copied`: of those of one size, in single precision, the one that errs most."""
    beyond = off >= size.clamp(min=floor).mul_(4.0 ** (1 - STEPS))
    if not bool(beyond.any()):
        return [size.numel()] + [0] * STEPS
    tells = size > floor
    beyond &= tells
    relative = off[beyond] / size[beyond]
    if copied:
        sizes, which = size[beyond].float().unique(return_inverse=True)
        relative = relative.new_zeros(len(sizes)).scatter_reduce_(0, which, relative, "amax")
    counts = [tells.sum(), *((relative >= 4.0**-i).sum() for i in range(STEPS))]
    return [int(count) for count in torch.stack(counts).tolist()]  # a GPU is waited for once
