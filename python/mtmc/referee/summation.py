"""The module with its sums added one term after the other: an order that any kernel may take, in eager's own precision.

Torch's sums keep many partial sums side by side. A loop that adds 1,024 terms in turn errs more, and where all terms are
alike its roundings add up; it is no lower precision.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch._decomp import decomposition_table

from mtmc.wire.modes import DispatchMode

TERMS = 4096  # added in turn; of longer sums as many partial sums
SCANNED = 1 << 25  # elements a launch
aten = torch.ops.aten
# What is a few operators over a sum: their definitions are torch's own.
COMPOSED = frozenset(
    getattr(aten, name)
    for name in "_safe_softmax logsumexp native_layer_norm native_group_norm native_batch_norm "
    "_native_batch_norm_legit _native_batch_norm_legit_functional _fused_rms_norm linalg_vector_norm norm std std_mean "
    "mse_loss nll_loss_forward nll_loss2d_forward binary_cross_entropy".split()
)


def in_turn(x: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
    """The sum over some axes; narrow types are added in fp32, as torch's are."""
    axes = sorted(d % x.dim() for d in dims) if dims else list(range(x.dim()))
    kept = [d for d in range(x.dim()) if d not in axes]
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    count = math.prod(x.shape[d] for d in axes)
    terms = wide.permute((*axes, *kept)).reshape(count, *(x.shape[d] for d in kept)).contiguous()
    if len(terms) > TERMS:
        rest = len(terms) % TERMS
        tail = terms[len(terms) - rest :].sum(0)
        total = _loop(terms[: len(terms) - rest].view(TERMS, -1, *terms.shape[1:])).sum(0) + tail
    else:
        total = _loop(terms)
    shape = [1 if d in axes else x.shape[d] for d in range(x.dim())] if keepdim else total.shape
    return total.reshape(shape)


def _loop(terms: torch.Tensor) -> torch.Tensor:
    if terms.is_cuda and len(terms) > 1:
        return _scanned(terms)
    total = torch.zeros_like(terms[0]) if len(terms) else terms.sum(0)
    for term in terms:
        total.add_(term)
    return total


def _scanned(terms: torch.Tensor) -> torch.Tensor:
    """The loop as a few launches: along an axis that is not the last one a thread of torch's scan on a GPU adds one term after the
    other, in the terms' own type. A single column is scanned in parallel, so it gets a second one beside it."""
    columns = terms.reshape(len(terms), -1)
    single = columns.shape[1] == 1
    if single:
        columns = columns.expand(-1, 2)
    at_once = max(1, SCANNED // max(1, columns.shape[1]))
    total = columns[:1]
    for begin in range(1, len(columns), at_once):
        total = torch.cat((total, columns[begin : begin + at_once])).cumsum(0)[-1:]
    return (total[:, :1] if single else total).reshape(terms.shape[1:]).clone()


class OneByOne(DispatchMode):
    """`sums`: how many it changed."""

    def __init__(self) -> None:
        super().__init__()
        self.sums = 0

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        x, packet = args[0] if args else None, func.overloadpacket
        if "out" in kwargs or not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return func(*args, **kwargs)
        if packet is aten.cudnn_batch_norm:
            weight, bias, *rest = args[1:]
            with self:
                found = decomposition_table[aten.native_batch_norm.default](x, weight, bias, *rest)
            return *found, x.new_empty(0, dtype=torch.uint8)
        if packet in COMPOSED and func in decomposition_table:
            with self:
                return decomposition_table[func](*args, **kwargs)
        reduced = SUMS.get(packet)
        if reduced is None:
            return func(*args, **kwargs)
        self.sums += 1
        return reduced(*args, **kwargs)


def _sum(x: torch.Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **_: Any) -> torch.Tensor:
    return in_turn(x if dtype is None else x.to(dtype), _listed(dim), keepdim).to(dtype or x.dtype)


def _mean(x: torch.Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> torch.Tensor:
    x = x if dtype is None else x.to(dtype)
    total = in_turn(x, _listed(dim), keepdim)
    return (total / max(1, x.numel() // max(1, total.numel()))).to(x.dtype)


def _var(
    x: torch.Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    return _var_mean(x, dim, unbiased, keepdim, correction=correction)[0]


def _var_mean(
    x: torch.Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[torch.Tensor, torch.Tensor]:
    if isinstance(dim, bool):  # the overload without axes
        dim, unbiased = None, dim
    less = correction if correction is not None else 0 if unbiased is False else 1
    dims = _listed(dim)
    mean = _mean(x.float() if x.dtype in (torch.float16, torch.bfloat16) else x, dims, True)
    squares = in_turn((x - mean).square(), dims, keepdim)
    count = x.numel() // max(1, squares.numel())
    return (squares / max(count - less, 0)).to(x.dtype), mean.reshape(squares.shape).to(x.dtype)


def _softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    powers, total = _powers(x, dim)
    return (powers.exp() / total).to(torch.float32 if half_to_float else x.dtype)


def _log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    powers, total = _powers(x, dim)
    return (powers - total.log()).to(torch.float32 if half_to_float else x.dtype)


def _powers(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Powers of e, the largest along an axis 0, and the sum of e to them. (Torch's own definition first imports sympy.)"""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    powers = wide - wide.amax(dim, keepdim=True) if wide.numel() else wide
    return powers, in_turn(powers.exp(), [dim], True)


def _listed(dim: Any) -> list[int]:
    return [] if dim is None else [dim] if isinstance(dim, int) else list(dim)


SUMS = {
    aten.sum: _sum,
    aten.mean: _mean,
    aten.var: _var,
    aten.var_mean: _var_mean,
    aten._softmax: _softmax,
    aten._log_softmax: _log_softmax,
    torch.ops.prims.sum: _sum,
}
