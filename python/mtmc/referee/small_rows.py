"""Measures many small outputs in one go: a batch-normed network leaves a hundred statistics behind each call, and to look at each of
them for itself took longer than all else that is done with a call.

What is found is what `measure` finds, of vectors and scalars on the host that hold finite values, and whose type holds the truth. All others it leaves to that.
"""

from __future__ import annotations

from typing import Any

import torch

from mtmc.device.memory import POISON
from mtmc.referee.measure import LEGACY, OFFICIAL, Measurement
from mtmc.referee.tails import ROUNDING, STEPS, smallest_whole
from mtmc.wire.blobs import bits

Row = tuple[Any, Any, Any]  # the candidate's c, eager's e and the truth t
FEWEST = 4  # outputs: fewer are measured as fast one by one
MOST = 1 << 16  # elements of one
SAFE = 1e-200, 1e200  # sums of squares that have neither lost digits nor grown too large


def measure_small(rows: list[Row]) -> list[Measurement | None]:
    """By row; None of those that are to be measured one by one."""
    found: list[Measurement | None] = [None] * len(rows)
    kinds: dict[torch.dtype, list[int]] = {}
    for index, row in enumerate(rows):
        if _is_small(row):
            kinds.setdefault(row[1].dtype, []).append(index)
    for kind, which in kinds.items():
        if len(which) >= FEWEST:
            measured = _measure([rows[index] for index in which], kind)
            for index, one in zip(which, measured, strict=True):
                found[index] = one
    return found


def _is_small(row: Row) -> bool:
    if not all(isinstance(value, torch.Tensor) and value.device.type == "cpu" for value in row):
        return False
    c, e, t = row
    alike = c.shape == e.shape == t.shape and c.dtype == e.dtype
    numbers = t.is_floating_point() if e.is_floating_point() else t.dtype == e.dtype and e.dtype != torch.bool
    return alike and numbers and not e.is_complex() and e.dim() <= 1 and 0 < e.numel() <= MOST


class _Segments:
    """Numbers of all outputs behind one another; what is asked for is one number of each."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes = torch.tensor(sizes)
        self.owner = torch.repeat_interleave(torch.arange(len(sizes)), self.sizes)

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        return torch.segment_reduce(values, "sum", lengths=self.sizes)

    def largest(self, values: torch.Tensor) -> torch.Tensor:
        return torch.segment_reduce(values, "max", lengths=self.sizes)

    def counts(self, flags: torch.Tensor) -> list[int]:
        if not flags.any():
            return [0] * len(self.sizes)
        return [int(count) for count in self.sum(flags.float()).tolist()]  # of at most MOST each: exact


def _measure(rows: list[Row], kind: torch.dtype) -> list[Measurement | None]:
    sizes = [e.numel() for _, e, _ in rows]
    parts = _Segments(sizes)
    c, e, t = (torch.cat([row[place].reshape(-1) for row in rows]) for place in range(3))
    pattern = int.from_bytes(bytes([POISON] * e.element_size()), "little", signed=True)
    poison = (
        (bits(c) == pattern) & (bits(e) != pattern)
        if e.element_size() > 1
        else torch.zeros_like(bits(c), dtype=torch.bool)
    )
    shared = zip(sizes, parts.counts(bits(c) != bits(e)), parts.counts(poison), strict=True)
    base = [
        {"dtype": str(kind)[6:], "numel": size, "exact": not unlike, "poison": poisoned}
        for size, unlike, poisoned in shared
    ]
    numbers = _floats(c, e, t, parts, kind) if kind.is_floating_point else _integers(c, t, parts)
    return [None if one is None else first | one for first, one in zip(base, numbers, strict=True)]


def _integers(c: torch.Tensor, t: torch.Tensor, parts: _Segments) -> list[Measurement | None]:
    wrong = c != t
    distances = parts.largest(torch.where(wrong, (c.double() - t.double()).abs(), 0.0)).tolist()
    found: list[Measurement | None] = []
    for count, distance in zip(parts.counts(wrong), distances, strict=True):
        numbers = {"wrong": count, "distance": distance, "gap": 0.0, "repeated": 0, "astray": 0}
        found.append({"kind": "integer", **numbers, "official_bad": count, "legacy_bad": count})
    return found


def _floats(
    c: torch.Tensor, e: torch.Tensor, t: torch.Tensor, parts: _Segments, kind: torch.dtype
) -> list[Measurement | None]:
    held = t.to(kind)  # an infinity where the type does not hold the truth
    c, e, t = c.double(), e.double(), t.double()
    difference, off, size = (c - t).abs(), (c - e).abs(), t.abs()
    finite = [not lost for lost in parts.counts(~(c.isfinite() & e.isfinite() & held.isfinite()))]
    squares, square_truths = (parts.sum(x.square()).tolist() for x in (difference, t))
    max_error, max_truth = parts.largest(difference), parts.largest(size)
    tails = _tails(difference, size, max_truth, parts, kind)
    bad = [parts.counts(off > e.abs() * rule + rule) for rule in (OFFICIAL.get(kind, LEGACY), LEGACY)]
    found: list[Measurement | None] = []
    for i, (square, square_truth) in enumerate(zip(squares, square_truths, strict=True)):
        norms = (square, max_error[i]), (square_truth, max_truth[i])
        safe = all(SAFE[0] < squared < SAFE[1] or most == 0 for squared, most in norms)
        if not (finite[i] and safe):
            found.append(None)
            continue
        error, norm_truth = square**0.5, square_truth**0.5
        found.append(
            {
                "kind": "float",
                "error": error / norm_truth if norm_truth > 0 else (0.0 if error == 0 else None),
                "off": error,
                "norm_truth": norm_truth,
                "max_error": float(max_error[i]),
                "max_truth": float(max_truth[i]),
                "tails": {"elements": [counts[i] for counts in tails]},
                "nonfinite": 0,
                "mismatched": 0,
                "official_bad": bad[0][i],
                "legacy_bad": bad[1][i] if bad[0][i] else 0,
            }
        )
    return found


def _tails(
    off: torch.Tensor, size: torch.Tensor, top: torch.Tensor, parts: _Segments, kind: torch.dtype
) -> list[list[int]]:
    """As tails.py has them: step by step, of each output."""
    floor = (top * ROUNDING).clamp(min=smallest_whole(kind))[parts.owner]
    tells = size > floor
    beyond = off >= torch.maximum(size, floor) * 4.0 ** (1 - STEPS)
    errs = parts.counts(beyond)
    sizes = parts.counts(torch.ones_like(tells))
    relative = torch.where(tells & beyond, off / size, 0.0)
    steps = [parts.counts(relative >= 4.0**-i) for i in range(STEPS)]
    telling = [told if some else every for told, some, every in zip(parts.counts(tells), errs, sizes, strict=True)]
    return [telling, *steps]
