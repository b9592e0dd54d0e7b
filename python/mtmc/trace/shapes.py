"""Operators whose results have no shapes while they are traced, for torch infers none, though it could.

torch 2.13 infers the shape of a grouped product for bfloat16 alone (2.15 for all), its kernels multiply float32 and float16, too;
transformers' mixtures of experts do so in eager. Of CTC losses and least squares some results have sizes by the values of data:
those that only a derivative asks for, and those that other drivers than the usual one give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

import torch
import torch.nn.functional as F
from torch._subclasses import fake_impls

aten = torch.ops.aten
Results = tuple[torch.Tensor, ...]


def grouped_product(
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


def ctc_loss(
    mode: Any,
    _: Any,
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: torch.Tensor | Sequence[int],
    target_lengths: torch.Tensor | Sequence[int],
    blank: int = 0,
    zero_infinity: bool = False,
) -> Results:
    """The losses, and what their derivative is made of, for targets as long as there is room for where lengths are data."""
    steps, batch, _ = log_probs.shape
    longest = targets.shape[-1] if isinstance(target_lengths, torch.Tensor) else max(target_lengths, default=0)
    with mode:
        return log_probs.new_empty([batch]), log_probs.new_empty([batch, steps, 2 * longest + 1])


def least_squares(
    mode: Any, _: Any, a: torch.Tensor, b: torch.Tensor, rcond: float | None = None, *, driver: str | None = None
) -> Results:
    """The solution lies in the rows of `b`, or in more where it is longer, by columns as LAPACK has it."""
    driver = driver or ("gelsy" if a.device.type == "cpu" else "gels")
    *batch, rows, columns = a.shape
    is_vector = b.shape == a.shape[:-1]
    sides = [] if is_vector else [b.shape[-1]]
    has_residuals, has_rank, has_values = (
        rows > columns and driver != "gelsy",
        driver != "gels",
        driver in ("gelsd", "gelss"),
    )
    with mode:
        solution = a.new_empty([*batch, *sides, max(rows, columns)]).narrow(-1, 0, columns)
        return (
            solution if is_vector else solution.mT,
            a.new_empty([*batch, *(sides or [1])] if has_residuals else [0]).to(real(a.dtype)),
            a.new_empty(batch if has_rank else [0], dtype=torch.int64),
            a.new_empty([*batch, min(rows, columns)] if has_values else [0], dtype=real(a.dtype)),
        )


def real(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_real() if dtype.is_complex else dtype


def of_lengths(*args: Any, **kwargs: Any) -> torch.Tensor:
    """A CTC loss whose lengths are tensors: of numbers torch makes some, and fills them where nobody sees it."""
    given = CTC_LOSS.bind(*args, **kwargs).arguments
    for name in ("input_lengths", "target_lengths"):
        if not isinstance(given[name], torch.Tensor):
            given[name] = torch.tensor(given[name])
    return own_ctc_loss(**given)


own_ctc_loss, CTC_LOSS = F.ctc_loss, signature(F.ctc_loss)
INFERRED = {
    aten._grouped_mm.default: grouped_product,
    aten._ctc_loss.default: ctc_loss,
    aten._ctc_loss.Tensor: ctc_loss,
    aten.linalg_lstsq.default: least_squares,
}


@contextmanager
def shapes_inferred() -> Iterator[None]:
    """Within it they have shapes for every type."""
    known = fake_impls.op_implementations_dict
    before = {op: known[op] for op in INFERRED if op in known}
    known.update(INFERRED)
    F.ctc_loss = of_lengths
    try:
        yield
    finally:
        F.ctc_loss = own_ctc_loss
        for op in INFERRED:
            del known[op]
        known.update(before)
