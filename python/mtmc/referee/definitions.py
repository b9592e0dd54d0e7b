"""Operators that torch has in narrow types only, or on a GPU only slowly in double, as their documentation defines them: for the
truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table

from mtmc.referee.convolution import convolution

aten = torch.ops.aten


def grouped_mm(
    a: torch.Tensor, b: torch.Tensor, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> torch.Tensor:
    """One product for each group. `offs`: where groups end along the one axis that all groups share: rows of a, columns of b,
    or, of two matrices, the axis that is summed over."""
    if offs is None:
        result = torch.bmm(a, b)
    else:
        ends = offs.tolist()
        groups = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        if a.dim() == 2 and b.dim() == 2:
            result = torch.stack([a[:, part] @ b[part] for part in groups])
        elif a.dim() == 2:
            result = a.new_zeros(a.shape[0], b.shape[-1])
            for part, factor in zip(groups, b, strict=True):
                result[part] = a[part] @ factor
        else:
            result = a.new_zeros(a.shape[1], b.shape[-1])
            for part, factor in zip(groups, a, strict=True):
                result[:, part] = factor @ b[:, part]
    return result if bias is None else result + bias


def scaled_mm(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: Any = None,
    scale_result: Any = None,
    out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> torch.Tensor:
    """A product of eight-bit matrices, each with one scale or one for each row of a and column of b."""
    result = (a.double() * scale_a.double()) @ (b.double() * scale_b.double())
    return result if bias is None else result + bias.double()


def cumprod(x: torch.Tensor, dim: int, dtype: Any = None) -> torch.Tensor:
    return in_turn(aten.cumprod(x, dim, dtype=dtype), x, dim)


def in_turn(product: torch.Tensor, x: torch.Tensor, dim: int) -> torch.Tensor:
    """Running products of x with 0 behind a factor of 0, as one factor after the other leaves it. A GPU multiplies segments: one
    that is too large for double makes NaN of it."""
    if not x.dim() or not x.numel() or not bool(product.isnan().any()):
        return product
    zero = x == 0
    before = product.roll(1, dim)
    before.select(dim, 0).fill_(1)
    first = zero & (zero.cumsum(dim) == 1) & before.isfinite()
    stays = first.byte().cummax(dim).values & x.isfinite().byte().cummin(dim).values
    return product.masked_fill(stays.bool(), 0)


def fake_quantized(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The nearest of so many values, which each index of the axis has others of, and where x lies between them."""
    shape = [-1 if place == axis % x.dim() else 1 for place in range(x.dim())]
    scale, zero_point = scale.view(shape), zero_point.view(shape)
    place = x * (1 / scale)
    place = (place + zero_point).round() if zero_point.is_floating_point() else place.round() + zero_point
    return (place.clamp(quant_min, quant_max) - zero_point) * scale, (place >= quant_min) & (place <= quant_max)


DEFINITIONS: dict[Any, Callable[..., Any]] = {
    aten._grouped_mm: grouped_mm,
    aten._scaled_mm: scaled_mm,
    aten.cumprod.default: cumprod,
    aten.fake_quantize_per_channel_affine_cachemask.default: fake_quantized,
}


def _is_slow(func: Any, args: Any) -> bool:
    """Is torch's own operator much slower in double than its definition? A GPU's libraries convolve without its matrix units, the
    host's one channel after the other where each has a kernel of its own."""
    if func.overloadpacket is not aten.convolution or args[0].dtype != torch.float64:
        return False
    return args[0].is_cuda or args[1].shape[1] == 1 < args[8]


def definition_of(func: Any, args: Any, error: Exception | None = None) -> Callable[..., Any] | None:
    """Ours; or torch's own, once the operator has said that double is none of its types."""
    if error is None:
        return convolution if _is_slow(func, args) else DEFINITIONS.get(func) or DEFINITIONS.get(func.overloadpacket)
    return decomposition_table.get(func) if "double" in str(error).lower() else None
