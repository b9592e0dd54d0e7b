"""Operators that torch has in narrow types only, or on a GPU only slowly in double, as their documentation defines them: for the
truth."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table

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


def convolution(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> torch.Tensor:
    """A sum over the places of the kernel, one product of matrices each. x: [N, C, sizes]; weight: [O, C/groups, kernel], or
    [C, O/groups, kernel] of a transposed convolution; result: [N, O, sizes]."""
    sizes, kernel = x.shape[2:], weight.shape[2:]
    if transposed:
        of_place = weight.unflatten(0, (groups, -1)).transpose(1, 2)  # [groups, O/groups, C/groups, kernel]
        grown = [
            (n - 1) * s + (k - 1) * d + 1 + o
            for n, s, k, d, o in zip(sizes, stride, kernel, dilation, output_padding, strict=True)
        ]
    else:
        of_place = weight.unflatten(0, (groups, -1))
        x = torch.nn.functional.pad(x, [p for pad in reversed(padding) for p in (pad, pad)]) if any(padding) else x
        grown = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(sizes, padding, dilation, kernel, stride, strict=True)
        ]
    spans = sizes if transposed else grown
    x = x.unflatten(1, (groups, -1))
    result = x.new_zeros(x.shape[0], groups, of_place.shape[1], *grown) if transposed else None
    for place in itertools.product(*map(range, kernel)):
        factor = of_place[(..., *place)]
        steps = [
            slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip(place, dilation, spans, stride, strict=True)
        ]
        seen = x if transposed else x[(..., *steps)]
        if factor.shape[2] == 1:
            term = factor.reshape(groups, -1, *[1] * len(kernel)) * seen
        else:
            term = (factor @ seen.flatten(3)).unflatten(3, spans)
        if result is None:
            result = term
        else:
            result[(..., *steps) if transposed else ...] += term
    assert result is not None, "a kernel has at least one place"
    if transposed:
        result = result[(..., *[slice(p, n - p) for p, n in zip(padding, grown, strict=True)])]
    result = result.flatten(1, 2)
    return result if bias is None else result + bias.view(-1, *[1] * len(kernel))


DEFINITIONS: dict[Any, Callable[..., torch.Tensor]] = {aten._grouped_mm: grouped_mm, aten._scaled_mm: scaled_mm}


def _is_slow(func: Any, args: Any) -> bool:
    """Is torch's own operator much slower in double than its definition? A GPU's libraries convolve without its matrix units, the
    host's one channel after the other where each has a kernel of its own."""
    if func.overloadpacket is not aten.convolution or args[0].dtype != torch.float64:
        return False
    return args[0].is_cuda or args[1].shape[1] == 1 < args[8]


def definition_of(func: Any, args: Any, error: Exception | None = None) -> Callable[..., Any] | None:
    """Ours; or torch's own, once the operator has said that double is none of its types."""
    if error is None:
        return convolution if _is_slow(func, args) else DEFINITIONS.get(func.overloadpacket)
    return decomposition_table.get(func) if "double" in str(error).lower() else None
