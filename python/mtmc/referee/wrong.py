"""The first wrong elements of a result that the judge refuses: where they lie, what is there, and what should be.

It is asked for when a refusal stands, never of what is right. Values are told of the task's own draws alone; of others the place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from mtmc.referee.budgets import Draw
from mtmc.referee.measure import PIECE, unwritten
from mtmc.referee.tails import smallest_whole
from mtmc.referee.ties import Ties
from mtmc.wire.line import Message

FIRST = 3  # elements that are named of an output


def wrong_of(draw: Draw, call: int, leaves: list[Any], request: Message) -> list[str]:
    """Of the output that the judge names, as text. Where the truth is that of some samples, eager's results take its place."""
    index = [draw.eager.name_of(i) for i in range(len(leaves))].index(request["output"])
    e = draw.eager.calls[call][index]
    t = draw.truth.calls[call][index] if draw.slices is None else e
    told = request["draw"].startswith("task-")
    return first_wrong(leaves[index], e, t, draw.truth.ties[index], request["beyond"], request["relative"], told)


def first_wrong(
    c: Any, e: Any, t: Any, ties: Ties | None, beyond: float | None, relative: bool, told: bool
) -> list[str]:
    """Of an output whose shape and type are eager's, in the order of its elements. A float is wrong that errs by more than
    `beyond` (None: by whatever it is, but not finite), of itself when `relative`. `told`: may its values be?"""
    if not all(isinstance(x, torch.Tensor) for x in (c, e, t)) or c.shape != e.shape:
        return []
    limit = math.inf if beyond is None else beyond
    lost = unwritten(c, e)
    named: list[str] = []
    for start, mine, eager, truth in _pieces(c, e, t):
        if lost is not None:
            wrong = lost[start : start + len(mine)]
        elif not e.is_floating_point() and not e.is_complex():
            wrong = mine != truth if ties is None else _worse(c, t, ties).reshape(-1)[start : start + len(mine)]
        else:
            wrong = _off(mine, eager, truth, limit, relative)
        for place in wrong.nonzero()[: FIRST - len(named), 0].tolist():
            at = _indices(start + place, list(c.shape))
            got = "was never written" if lost is not None else f"is {mine[place].item():.9g}"
            named.append(f"{at} {got} instead of {truth[place].item():.9g}" if told else str(at))
        if len(named) == FIRST:
            break
    return named


def _pieces(*of: torch.Tensor) -> Iterator[tuple[int, torch.Tensor, torch.Tensor, torch.Tensor]]:
    """As flat parts, with where each begins."""
    size = PIECE[of[0].device.type]
    c, e, t = (x.reshape(-1) for x in of)
    for start in range(0, len(c), size):
        part = slice(start, start + size)
        yield start, c[part], e[part], t[part].to(c.device)  # the truth may be on the host


def _off(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor, limit: float, relative: bool) -> torch.Tensor:
    wide = torch.complex128 if e.is_complex() else torch.float64
    alike = (c == e) | (c == t) | (c.isnan() & (e.isnan() | t.isnan()))
    off, size = (c.to(wide) - t.to(wide)).abs(), t.to(wide).abs()
    if not math.isfinite(limit):
        return ~(c.isfinite() & e.isfinite()) & ~alike
    if not relative:
        return ~(off <= limit) & ~alike
    return (off >= limit * size) & (size > smallest_whole(e.dtype)) & ~alike


def _worse(c: torch.Tensor, t: torch.Tensor, ties: Ties) -> torch.Tensor:
    """Indices that point to another value than the best."""
    c, t = ties.whole(c), ties.whole(t)
    chosen, best = ties.at(c), ties.at(t)
    outside = (c < 0) | (c >= ties.values.shape[ties.dim])
    return ties.part((c != t) & (outside | ~((chosen == best) | (chosen.isnan() & best.isnan()))))


def _indices(place: int, shape: list[int]) -> list[int]:
    found: list[int] = []
    for size in reversed(shape):
        place, index = divmod(place, size)
        found.insert(0, index)
    return found
