"""Grouped products while they are traced. torch 2.13 infers the shape of one for bfloat16 alone (2.15 for all), its kernels
multiply float32 and float16, too; transformers' mixtures of experts do so in eager."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses import fake_impls

grouped_mm = torch.ops.aten._grouped_mm.default


def result(
    mode: Any,
    _: Any,
    a: torch.Tensor,
    b: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """A tensor without values. Groups, which end at `offs`, are the rows of a 2D `a`, the columns of a 2D `b`, or, where both
    are, the terms of the sums: then they are the first axis of the result."""
    groups = [] if (a.dim() == 2) != (b.dim() == 2) else [offs.shape[0] if offs is not None else a.shape[0]]
    with mode:
        return torch.empty([*groups, a.shape[-2], b.shape[-1]], dtype=out_dtype or a.dtype, device=a.device)


@contextmanager
def grouped_products() -> Iterator[None]:
    """Within it they have shapes for every type."""
    known = fake_impls.op_implementations_dict
    before = known.get(grouped_mm)
    known[grouped_mm] = result
    try:
        yield
    finally:
        del known[grouped_mm]
        if before is not None:
            known[grouped_mm] = before
