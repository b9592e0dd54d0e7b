"""Operators over gigabytes in double, a piece at a time: of narrow tensors that are widened whole there would be two or three times
as much again, beside what candidates and rivals hold. For the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

aten = torch.ops.aten
LARGE = 1 << 27  # elements of a narrow tensor: below it whole ones fit
PIECE = 1 << 26  # elements that are widened at a time
MEAN, SUM = 1, 2  # as torch numbers the reductions of losses
LOSSES = frozenset({aten.mse_loss, aten.smooth_l1_loss, aten.huber_loss})
TOTALS = frozenset({aten.sum.default, aten.mean.default})
Widening = Callable[[Any], Any]


def in_pieces(func: Any, args: Any, kwargs: Any, widen: Widening) -> torch.Tensor | None:
    """The operator's result in double; None where it is small, or is none of those that can be taken apart: element by element,
    or a sum over everything."""
    given = [x for x in args if isinstance(x, torch.Tensor)]
    if kwargs or not any(_is_large(x) for x in given):
        return None
    try:
        shape = torch.broadcast_shapes(*(x.shape for x in given))
    except RuntimeError:
        return None
    if func.overloadpacket in LOSSES:
        reduction = args[2] if len(args) > 2 else MEAN
        if reduction not in (MEAN, SUM) or any(x.shape != shape for x in given):
            return None
        total = sum(func(*part[:2], SUM, *part[3:]) for _, part in _parts(args, shape, widen))
        return total / shape.numel() if reduction == MEAN else total
    if func in TOTALS:
        total = sum(part[0].sum() for _, part in _parts(args, shape, widen))
        return total / shape.numel() if func is aten.mean.default else total
    if torch.Tag.pointwise not in func.tags or func._schema.is_mutable or len(func._schema.returns) != 1:
        return None
    result = None
    for rows, part in _parts(args, shape, widen):
        value = func(*part)
        if result is None:
            result = value.new_empty(shape)
        result[rows] = value
    return result


def _is_large(x: torch.Tensor) -> bool:
    return x.dtype in (torch.float16, torch.bfloat16, torch.float32) and x.numel() >= LARGE


def _parts(args: Any, shape: torch.Size, widen: Widening) -> Iterator[tuple[slice, list[Any]]]:
    """The arguments cut along the first axis of what they are broadcast to, widened; at least a row at a time."""
    step = max(1, PIECE * shape[0] // shape.numel())
    for start in range(0, shape[0], step):
        rows = slice(start, min(start + step, shape[0]))

        def cut(x: Any, rows: slice = rows) -> Any:
            whole = not isinstance(x, torch.Tensor) or x.dim() < len(shape) or x.shape[0] == 1
            return widen(x if whole else x[rows])

        yield rows, [cut(x) for x in args]
