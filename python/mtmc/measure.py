"""Measures what a call returned against the float64 truth: numbers only, the judge decides."""

from __future__ import annotations

import math
from typing import Any

import torch

from mtmc.truth import Ties

Measurement = dict[str, Any]
OFFICIAL, LEGACY = {torch.float32: 1e-4, torch.float64: 1e-4}, 1e-2
POISON = 0xFE


def measure(c: Any, e: Any, t: Any, ties: Ties | None) -> Measurement:
    """One output: the candidate's c, eager's e and the truth t. `mismatch` names what is not even comparable."""
    if not isinstance(e, torch.Tensor):
        return _measure_scalar(c, e)
    if not isinstance(c, torch.Tensor):
        return {"mismatch": "wrong-shape", "detail": f"a {type(c).__name__} instead of a tensor"}
    if c.shape != e.shape:
        return {"mismatch": "wrong-shape", "detail": f"{list(c.shape)} instead of {list(e.shape)}"}
    if c.dtype != e.dtype:
        return {"mismatch": "wrong-dtype", "detail": f"{c.dtype} instead of {e.dtype}"}
    found: Measurement = {
        "dtype": str(e.dtype)[6:],
        "numel": e.numel(),
        "exact": _same_bits(c, e),
        "poison": _poisoned(c, e),
    }
    if e.is_complex():
        c, e, t = torch.view_as_real(c), torch.view_as_real(e), torch.view_as_real(t)
    if e.is_floating_point():
        return jsonable(found | _measure_float(c, e, t.double()))
    return jsonable(found | _measure_integer(c, t, ties))


def _measure_float(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor) -> Measurement:
    finite_c, finite_e, finite_t = torch.isfinite(c), torch.isfinite(e), torch.isfinite(t)
    c64, e64 = c.double(), e.double()
    compared = finite_e & finite_t & finite_c
    # Only where all three are finite; the rest is counted below.
    difference = torch.where(compared, c64 - t, 0.0)
    truth = torch.where(finite_e & finite_t, t, 0.0)
    norm_truth = _norm(truth)
    both = ~finite_e & ~finite_t
    alike = (torch.isnan(c) & torch.isnan(e)) | (c == e)
    scale = torch.where(finite_e, e64.abs(), 0.0)
    off = (c64 - e64).abs()
    rule = OFFICIAL.get(e.dtype, 1e-2)
    error = _norm(difference)
    return {
        "kind": "float",
        "error": error / norm_truth if norm_truth > 0 else (0.0 if error == 0 else None),
        "norm_truth": norm_truth,
        "max_error": _largest(difference),
        "max_truth": _largest(truth),
        "nonfinite": int((~finite_c & finite_e).sum()),
        "mismatched": int((both & ~alike).sum()),
        "nonzero": int(((c64 != 0) & (e64 == 0)).sum()) if norm_truth == 0 else 0,
        "official_bad": int((~((off <= rule + rule * scale) | (c == e))).sum()),
        "legacy_bad": int((~((off <= LEGACY + LEGACY * scale) | (c == e))).sum()),
    }


def _norm(x: torch.Tensor) -> float:
    """The 2-norm, safe from overflow and underflow of the squares."""
    top = _largest(x)
    return float(torch.linalg.vector_norm(x / top)) * top if top > 0 else 0.0


def jsonable(measurement: Measurement) -> Measurement:
    """JSON has no infinity and no NaN: they become null, which the judge reads as beyond any limit."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in measurement.items()}


def _largest(x: torch.Tensor) -> float:
    return float(x.abs().max()) if x.numel() else 0.0


def _measure_integer(c: torch.Tensor, t: torch.Tensor, ties: Ties | None) -> Measurement:
    wrong = c != t
    gap = 0.0
    if ties is not None and bool(wrong.any()) and c.dtype not in (torch.bool,):
        in_range = (c >= 0) & (c < ties.values.shape[ties.dim])
        chosen, best = ties.at(c), ties.at(t)
        scale = float(best.abs().square().mean().sqrt()) or 1.0
        gaps = torch.where(wrong & in_range, (chosen - best).abs() / scale, 0.0)
        gap = float(gaps.nan_to_num(nan=math.inf).max())
        wrong = wrong & ~in_range  # the rest is judged by its gap
    bad = int((c != t).sum())
    return {"kind": "integer", "wrong": int(wrong.sum()), "gap": gap, "official_bad": bad, "legacy_bad": bad}


def _measure_scalar(c: Any, e: Any) -> Measurement:
    """Python numbers and None: equal, or close for floats."""
    if isinstance(c, torch.Tensor) or type(c) is not type(e):
        return {"mismatch": "wrong-shape", "detail": f"a {type(c).__name__} instead of a {type(e).__name__}"}
    same = c == e or (isinstance(e, float) and math.isclose(c, e, rel_tol=1e-6))
    return {
        "kind": "integer",
        "dtype": type(e).__name__,
        "numel": 1,
        "exact": c == e,
        "poison": 0,
        "wrong": int(not same),
        "gap": 0.0,
        "official_bad": int(not same),
        "legacy_bad": int(not same),
    }


def _same_bits(c: torch.Tensor, e: torch.Tensor) -> bool:
    return (
        torch.equal(c.contiguous().view(torch.uint8), e.contiguous().view(torch.uint8))
        if c.dim()
        else torch.equal(c, e)
    )


def _poisoned(c: torch.Tensor, e: torch.Tensor) -> int:
    """How many elements hold the byte pattern that fresh memory is filled with, where eager's do not."""
    if not c.numel() or c.dtype == torch.bool:
        return 0
    width = c.element_size()
    rows = (c.contiguous().reshape(-1).view(torch.uint8).reshape(-1, width) == POISON).all(1)
    own = (e.contiguous().reshape(-1).view(torch.uint8).reshape(-1, width) == POISON).all(1)
    return int((rows & ~own).sum()) if width > 1 else 0
