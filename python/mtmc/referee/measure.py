"""Measures what a call returned against the float64 truth: numbers only, the judge decides."""

from __future__ import annotations

import math
from typing import Any

import torch

from mtmc.device import one_pass
from mtmc.device.memory import POISON
from mtmc.referee.tails import ROUNDING, added, smallest_whole, tails
from mtmc.referee.ties import Ties
from mtmc.wire.blobs import bits, same_bits

Measurement = dict[str, Any]  # of one output of one call; its keys are the fields of src/eval/measurement.h
Runs = list[list[Measurement]]  # run by run, output by output
OFFICIAL, LEGACY = {torch.float32: 1e-4, torch.float64: 1e-4}, 1e-2
LOST = 2.0**-4  # how far from a truth a value may be that eager has not (it overflowed): of it, or of the largest one
ASTRAY = 2.0**-4  # of what is in its row: an index that points at another value by so much
PIECE = {"cpu": 1 << 27, "cuda": 1 << 25}  # elements that are measured at a time


def measure(c: Any, e: Any, t: Any, ties: Ties | None, copied: bool = False) -> Measurement:
    """One output: the candidate's c, eager's e and the truth t. `mismatch` names what is not even comparable. Python floats
    are measured as tensors of one: eager's own rounding counts. `copied`: see `tails`."""
    if not isinstance(e, torch.Tensor):
        if isinstance(c, torch.Tensor) or type(c) is not type(e):
            return {"mismatch": "wrong-shape", "detail": f"a {type(c).__name__} instead of a {type(e).__name__}"}
        if not isinstance(e, float):
            return _measure_exact(c, e)
        c, e, t = (torch.tensor(value, dtype=torch.float64) for value in (c, e, t))
    if not isinstance(c, torch.Tensor):
        return {"mismatch": "wrong-shape", "detail": f"a {type(c).__name__} instead of a tensor"}
    if c.shape != e.shape:
        return {"mismatch": "wrong-shape", "detail": f"{list(c.shape)} instead of {list(e.shape)}"}
    if c.dtype != e.dtype:
        return {"mismatch": "wrong-dtype", "detail": f"{c.dtype} instead of {e.dtype}"}
    if c.device.type != e.device.type:
        return {"mismatch": "wrong-dtype", "detail": f"on {c.device.type} instead of {e.device.type}"}
    if t.device != e.device:  # the device's memory was too small for the truth
        c, e = c.to(t.device), e.to(t.device)
    found: Measurement = {"dtype": str(e.dtype)[6:], "numel": e.numel()}
    if not copied and (at_once := _measure_at_once(c, e, t)) is not None:
        return jsonable(found | at_once)
    found |= {"exact": same_bits(c, e), "poison": poisoned(c, e)}
    if e.is_complex():
        found |= _measure_float(*(torch.view_as_real(x) for x in (c, e, t)), copied)
        del found["tails"]["elements"]  # a small part of a large number is no number of its own: rows are of two parts
        return jsonable(found)
    if e.is_floating_point():
        return jsonable(found | _measure_float(c, e, t, copied))
    return jsonable(found | _measure_integer(c, e, t, ties))


def _measure_at_once(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor) -> Measurement | None:
    """Of large finite tensors on a GPU whose type holds the truth; None of others."""
    if not e.is_floating_point():
        return None
    rules = OFFICIAL.get(e.dtype, LEGACY), LEGACY
    found = one_pass.measure(c, e, t, rules, smallest_whole(e.dtype), ROUNDING)
    if found is None or found.max_truth > torch.finfo(e.dtype).max:
        return None
    piece = {
        "error": found.error,
        "norm_truth": found.norm_truth,
        "max_error": found.max_error,
        "max_truth": found.max_truth,
        "tails": {"elements": found.elements} | ({} if found.rows is None else {"rows": found.rows}),
        "nonfinite": 0,
        "mismatched": 0,
        "official_bad": found.official_bad,
        "legacy_bad": found.legacy_bad,
    }
    return {"exact": found.exact, "poison": found.poison} | _summary([piece])


def settled(c: Any, e: torch.Tensor) -> Any:
    """A state after arguments that were not finite, as eager left it where one holds NaN and the other an infinity: which of
    them a running mean becomes hangs on the order of additions, and torch's own differ between CPU and GPU."""
    if not isinstance(c, torch.Tensor) or c.shape != e.shape or c.dtype != e.dtype or c.device != e.device:
        return c
    lost = (c.isnan() & e.isinf()) | (c.isinf() & e.isnan())
    return torch.where(lost, e, c) if bool(lost.any()) else c


def _measure_float(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor, copied: bool) -> Measurement:
    """In pieces where the tensors are large: a dozen temporaries in double would not fit beside them. Pieces are of rows."""
    piece = PIECE[e.device.type]
    if e.numel() <= piece:
        return _summary([_measure_piece(c, e, t, _scale(e, t), copied)])
    width = e.shape[-1] if e.shape[-1] <= piece else 1
    scale = _scale(e, t)
    c, e, t = (x.reshape(-1, width) if width > 1 else x.reshape(-1) for x in (c, e, t))
    rows = max(1, piece // width)
    pieces = zip(c.split(rows), e.split(rows), t.split(rows), strict=True)
    return _summary([_measure_piece(*piece, scale, copied) for piece in pieces])


def _scale(e: torch.Tensor, t: torch.Tensor) -> float:
    """The largest |t| that the type holds, and that is finite in both where one of t is not or is larger."""
    if not t.numel():
        return 0.0
    top = max(abs(float(bound)) for bound in t.aminmax())
    if top <= torch.finfo(e.dtype).max:
        return top
    return _largest(torch.where(torch.isfinite(e) & torch.isfinite(t.to(e.dtype)), t, 0.0).double())


def _summary(pieces: list[Measurement]) -> Measurement:
    norm_truth, error = (math.hypot(*(piece[key] for piece in pieces)) for key in ("norm_truth", "error"))
    count = {
        key: sum(piece[key] for piece in pieces) for key in ("nonfinite", "mismatched", "official_bad", "legacy_bad")
    }
    return {
        "kind": "float",
        "error": error / norm_truth if norm_truth > 0 else (0.0 if error == 0 else None),
        "off": error,
        "norm_truth": norm_truth,
        "max_error": max(piece["max_error"] for piece in pieces),
        "max_truth": max(piece["max_truth"] for piece in pieces),
        "tails": added([piece["tails"] for piece in pieces]),
        **count,
    }


def _measure_piece(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor, top: float, copied: bool) -> Measurement:
    """As the summary, with norms that are not divided yet. `top`: the largest |t| of the whole output."""
    t = t.double()
    c64, e64 = c.double(), e.double()
    rule = OFFICIAL.get(e.dtype, LEGACY)
    nonfinite = mismatched = 0
    differs = None  # where candidate and eager differ in what is not finite
    if not all(math.isfinite(float(x.sum())) for x in (c64, e64, t)):  # slower: only finite values are compared
        finite_c, finite_e, finite_t = torch.isfinite(c64), torch.isfinite(e64), torch.isfinite(t)
        # torch's own vector code makes NaN of some infinities that its definition keeps: either is right; and a truth that is
        # too large for the type is an infinity, whatever eager has come to (a running product that has underflown stays 0)
        rounded = t.to(e.dtype).double()
        alike = (torch.isnan(c64) & (torch.isnan(e64) | torch.isnan(t))) | (c64 == e64) | (c64 == t) | (c64 == rounded)
        beyond = finite_t & ~torch.isfinite(rounded)
        nonfinite = int((~finite_c & finite_e & (c64 != rounded)).sum())
        lost = ~finite_e & finite_t & finite_c  # by eager, whose error says nothing there: c stands for itself
        astray = lost & ((c64 - t).abs() > LOST * t.abs().clamp(min=top))
        mismatched = int((~finite_e & (~finite_t | (beyond & ~finite_c)) & ~alike).sum() + astray.sum())
        differs = ~(finite_c & finite_e) & ~(c64 == e64)
        t = torch.where(finite_e & finite_t, t, 0.0)
        c64 = torch.where(finite_e & finite_t & finite_c, c64, t)
        e64 = torch.where(finite_e, e64, 0.0)
        off = torch.where(finite_c & finite_e, (c.double() - e64).abs(), 0.0)
    else:
        off = (c64 - e64).abs_()
    difference = c64 - t
    norm_truth, error = _norm(t), _norm(difference)
    official_bad = _beyond(rule, off, e64, differs)
    return {
        "error": error,
        "norm_truth": norm_truth,
        "max_error": _largest(difference),
        "max_truth": _largest(t),
        "tails": tails(difference, t, smallest_whole(e.dtype), top, copied),
        "nonfinite": nonfinite,
        "mismatched": mismatched,
        "official_bad": official_bad,
        "legacy_bad": _beyond(LEGACY, off, e64, differs) if official_bad else 0,  # the looser rule of the two
    }


def _beyond(rule: float, off: torch.Tensor, e: torch.Tensor, differs: torch.Tensor | None) -> int:
    """How many elements are further off than torch.allclose with this rtol and atol lets them be."""
    if differs is None and _largest(off) <= rule:
        return 0  # atol alone lets them
    bad = off > e.abs() * rule + rule
    return int((bad if differs is None else bad | differs).sum())


def _norm(x: torch.Tensor) -> float:
    """The 2-norm, safe from overflow and underflow of the squares."""
    norm = float(torch.linalg.vector_norm(x))
    if 1e-100 < norm < 1e100:
        return norm
    top = _largest(x)
    return float(torch.linalg.vector_norm(x / top)) * top if top > 0 else 0.0


def jsonable(measurement: Measurement) -> Measurement:
    """JSON has no infinity and no NaN: they become null, which the judge reads as beyond any limit."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in measurement.items()}


def _largest(x: torch.Tensor) -> float:
    """The largest |x|: ten times as fast as the norm of that name."""
    return max(abs(float(bound)) for bound in x.aminmax()) if x.numel() else 0.0


def _disordered(index: torch.Tensor, ties: Ties) -> int:
    """How many indices of neighbours of one value are not in the order in which these values came."""
    if not index.dim():
        return 0
    values = ties.at(index)
    alike = values.diff(dim=ties.dim) == 0
    return int((alike & (index.diff(dim=ties.dim) < 0)).sum())


def _measure_integer(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor, ties: Ties | None) -> Measurement:
    """`gap`: by how much the values that indices point to are worse than the best. `wrong`, `distance`: of what is no tie, how
    many differ from the truth, and by how much at most. `repeated`: indices that an ordering returns twice in a row, or, where eager
    keeps the order of equal values, as a stable one must, that do not. `astray`: see below."""
    wrong = c != t
    gap, repeated, astray = 0.0, 0, 0
    bad = int(wrong.sum())
    if ties is not None and bad and c.dtype not in (torch.bool,):
        if ties.distinct:
            repeated = ties.repeated(c)
        c, e, t = (ties.whole(x) for x in (c, e, t))
        wrong = c != t
        in_range = (c >= 0) & (c < ties.values.shape[ties.dim])
        chosen, best = ties.at(c), ties.at(t)
        scale = float(torch.where(best.isfinite(), best, 0.0).square().mean().sqrt()) or 1.0
        tied = (chosen == best) | (chosen.isnan() & best.isnan())  # infinities, too
        gaps = torch.where(wrong & in_range & ~tied, (chosen - best).abs(), 0.0).nan_to_num(nan=math.inf)
        gap, astray = float(gaps.max()) / scale, _astray(gaps, best, ties)
        wrong = wrong & ~in_range  # the rest is judged by its gap
        if ties.stable and not _disordered(e, ties):
            repeated += _disordered(c, ties)
    count = int(wrong.sum())
    distance = float((c[wrong].double() - t[wrong].double()).abs().max()) if count else 0.0
    numbers = {"wrong": count, "distance": distance, "gap": gap, "repeated": repeated, "astray": astray}
    return {"kind": "integer", **numbers, "official_bad": bad, "legacy_bad": bad}


def _astray(gaps: torch.Tensor, best: torch.Tensor, ties: Ties) -> int:
    """Of how many indices the value is off by a good part of what is in its own row? Beside larger rows none would show. Those of
    one best value count once: draws have copies of rows."""
    finite = torch.where(ties.values.isfinite(), ties.values, 0).double()
    rows = finite.square().mean(ties.dim, keepdim=True).sqrt()
    rows = rows if best.dim() == rows.dim() else rows.squeeze(ties.dim)
    size = torch.maximum(best.abs(), rows.expand(best.shape))
    tells = size > ROUNDING * float(finite.abs().max())
    return len(best[tells & (gaps > ASTRAY * size)].unique())


def _measure_exact(c: Any, e: Any) -> Measurement:
    """Python integers, truth values, text and None: equal to eager's."""
    bad = int(c != e)
    distance = float(min(abs(c - e), 1 << 62)) if isinstance(e, int) else float(bad)
    return {
        "kind": "integer",
        "dtype": type(e).__name__,
        "numel": 1,
        "exact": not bad,
        "poison": 0,
        "wrong": bad,
        "distance": distance,
        "gap": 0.0,
        "repeated": 0,
        "astray": 0,
        "official_bad": bad,
        "legacy_bad": bad,
    }


def nearest_constant(t: Any) -> float:
    """The constant nearest to a truth: the mean of what is finite, of integers the most frequent one."""
    if not isinstance(t, torch.Tensor) or not t.numel() or t.is_complex():
        return 0.0
    if not t.is_floating_point():
        flat = t.flatten()
        return flat[flat.double().mode().indices].item()
    finite = torch.isfinite(t)
    return float(torch.where(finite, t, 0.0).sum() / finite.sum().clamp(min=1))


def filled(e: torch.Tensor, level: float) -> torch.Tensor:
    """A tensor like eager's, of one number. What is too large for its type becomes an infinity: a truth knows no such bound."""
    wide = torch.float64 if e.is_floating_point() or e.is_complex() else e.dtype
    return torch.empty_like(e).fill_(torch.tensor(level, dtype=wide).to(e.dtype))


def poisoned(c: torch.Tensor, e: torch.Tensor) -> int:
    """How many elements hold the byte pattern that fresh memory is filled with, where eager's do not."""
    found = unwritten(c, e)
    return 0 if found is None else int(found.sum())


def unwritten(c: torch.Tensor, e: torch.Tensor) -> torch.Tensor | None:
    """Which elements they are, in their order; None where there are none."""
    width = c.element_size()
    if not c.numel() or width == 1:
        return None
    lanes = bits(c).element_size()
    pattern = int.from_bytes(bytes([POISON] * lanes), "little", signed=True)
    words = bits(c) == pattern
    if not words.any():
        return None
    rows = words.reshape(-1, width // lanes).all(1)
    own = (bits(e) == pattern).reshape(-1, width // lanes).all(1)
    found = rows & ~own
    return found if bool(found.any()) else None
