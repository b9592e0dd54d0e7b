"""Results that hang on an order which torch leaves open: that of equal values in a topk, or in a sort that is not stable, and
that of all values in a topk which need not sort them.

Eager has some order, which depends on the library's algorithm for that size. A kernel that takes the best first, and of equal
values the first, is as right. Indices that are results themselves are judged by what they point at (`Ties`); what is looked up or marked by them is
compared with eager's where it is that, and else with what the module returns when the first comes first. No third order passes.

So do random numbers that go by the layout of arguments: a kernel may draw them in that order, or as if its arguments lay in order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from mtmc.referee.budgets import Draw, compare
from mtmc.referee.measure import Measurement
from mtmc.referee.reference import Eager, EagerError, Reference, State
from mtmc.referee.ties import Ties
from mtmc.referee.truth import OPEN_ORDERS, TruthError, widen
from mtmc.wire.blobs import identical
from mtmc.wire.modes import DispatchMode

aten = torch.ops.aten
PLAINLY = 1e-3  # of itself and of the rms: what errs by more is another element's value, or not what was asked for


class FirstComes(DispatchMode):
    """The best comes first, and of equal values the first. `asked`: did somebody leave their order to torch?"""

    def __init__(self) -> None:
        super().__init__()
        self.asked = False

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in OPEN_ORDERS:
            return func(*args, **(kwargs or {}))
        self.asked = True
        given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | (kwargs or {})
        x, dim = given["self"], given.get("dim", -1)
        descending = given.get("largest", True) if func is aten.topk.default else given.get("descending", False)
        found = aten.sort.stable(x, stable=True, dim=dim, descending=descending)
        return (
            tuple(part.narrow(dim, 0, given["k"]).contiguous() for part in found) if "k" in given and x.dim() else found
        )


def in_other_order(reference: Reference, draw: Draw) -> Draw | None:
    """The draw as it is when the first comes first; None where nothing leaves an order open, or it cannot be said."""
    try:
        with FirstComes() as mode:
            eager = reference.run_eager(draw.arguments, draw.state, draw.seed, len(draw.eager.calls))
            return with_eager(reference, draw, eager) if mode.asked else None
    except (EagerError, torch.OutOfMemoryError):
        return None


def with_eager(reference: Reference, draw: Draw, eager: Eager) -> Draw | None:
    """The draw as `eager` answers it, and the truth with that one's choices; None where it cannot be said."""
    if len(eager.calls[0]) != len(draw.eager.calls[0]) or len(eager.calls) != len(draw.eager.calls):
        return None
    seen = zip(eager.after, draw.eager.after, strict=True)
    after = [{name: value for name, value in now.items() if name in then} for now, then in seen]
    eager = replace(eager, after=after, unseen=draw.eager.unseen)
    try:
        truth = reference.run_truth(draw.arguments, draw.state, eager, widen)
    except (TruthError, torch.OutOfMemoryError):
        return None
    return replace(draw, eager=eager, truth=truth, reorder=None)


def plainly_other(draw: Draw, call: int, leaves: list[Any]) -> int:
    """Elements of a call's results that are not the truth's, whatever precision it has; of indices into an order, those that point
    at other values."""
    rows = zip(leaves, draw.eager.calls[call], draw.truth.calls[call], draw.truth.ties, strict=True)
    return sum(_others(c, t, ties) for c, e, t, ties in rows if _comparable(c, e, t))


def distance(draw: Draw, call: int, leaves: list[Any]) -> float:
    """How far a call's results are from the truth, each in units of its own size: a row in another order may differ by little."""
    rows = zip(leaves, draw.eager.calls[call], draw.truth.calls[call], draw.truth.ties, strict=True)
    total = 0.0
    for c, e, t, ties in rows:
        if _comparable(c, e, t):
            mine, theirs = (x.double().nan_to_num(0.0, 0.0, 0.0) for x in _valued(c, t, ties))
            total += float((mine - theirs).norm()) / (float(theirs.norm()) or 1.0)
    return total


def _valued(c: torch.Tensor, t: torch.Tensor, ties: Ties | None) -> tuple[torch.Tensor, torch.Tensor]:
    """A result and its truth; of indices into an order, what they point at."""
    c = c.to(t.device)
    return (c, t) if ties is None or torch.equal(c, t) else (ties.at(ties.whole(c)), ties.at(ties.whole(t)))


def _comparable(c: Any, e: Any, t: Any) -> bool:
    if not all(isinstance(x, torch.Tensor) for x in (c, e, t)) or e.is_complex():
        return False
    return (c.shape, c.dtype, c.device.type) == (e.shape, e.dtype, e.device.type)


def _others(c: torch.Tensor, t: torch.Tensor, ties: Ties | None) -> int:
    c, t = _valued(c, t, ties)
    if not c.is_floating_point():
        return int((c != t).sum())
    c, t = c.double(), t.double()
    size = t.abs().nan_to_num(0.0, 0.0)
    near = (c - t).abs() <= PLAINLY * (size + size.square().mean().sqrt())
    return int((~near & (c != t) & ~(c.isnan() & t.isnan())).sum())


def nearest(draw: Draw, call: int, leaves: list[Any]) -> Draw:
    """The draw itself, or in the other order where a call's results are nearer to that. Only where eager had an order to choose, and
    some of them are plainly other than its own, is it asked what that would be; where all of an order is open, and not only that of
    equal values, unless they are eager's own."""
    if draw.slices is not None or not (any(draw.eager.places) or draw.by_layout):
        return draw
    if draw.eager.unsorted:
        if identical(leaves, draw.eager.calls[call]) or draw.other is None:
            return draw
        return draw.other if distance(draw.other, call, leaves) < distance(draw, call, leaves) else draw
    if not (others := plainly_other(draw, call, leaves)) or draw.other is None:
        return draw
    return draw if plainly_other(draw.other, call, leaves) >= others else draw.other


def compare_in_order(draw: Draw, call: int, leaves: list[Any], state: State) -> list[Measurement]:
    """As `compare`, in the order that the results have. In another than eager's they are not bit for bit eager's."""
    near = nearest(draw, call, leaves)
    measured = compare(near, call, leaves, state)
    return measured if near is draw else [one | {"exact": False} if "exact" in one else one for one in measured]
