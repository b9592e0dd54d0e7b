"""What eager errs on a kind of draws, and what a candidate may err that is as exact: measurements, of which the judge makes limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import torch

from mtmc.referee.half_ulp import half_an_ulp
from mtmc.referee.measure import Measurement, Runs, measure, settled
from mtmc.referee.reference import Eager, EagerError, Reference, State, Truth
from mtmc.referee.sampled import Sampler, seeds_of
from mtmc.referee.slices import Slices, taken
from mtmc.referee.small_rows import measure_small
from mtmc.referee.summation import OneByOne
from mtmc.referee.ties import Ties
from mtmc.referee.truth import SINGLE, TruthError, widen
from mtmc.task.accuracy import Tf32Matmuls, fp32_only
from mtmc.wire.blobs import on_host
from mtmc.wire.outputs import tensors
from mtmc.wire.plain import is_plain

SEEDS = 5  # how many draws of a kind make its budget
SEEDS_OF_OTHERS = 2  # of kinds on which a candidate may raise: the judge holds those to the task's budget as well
OWN_ELEMENTS = 1 << 24  # of a draw's outputs: eager's errors on larger ones are measured when they are asked for


@dataclass
class Draw:
    """A draw with all that is known about it."""

    arguments: list[Any]
    seed: int
    state: State
    eager: Eager
    truth: Truth
    copied: bool = False  # do its arguments hold the same rows many times?
    sampler: Sampler | None = None
    slices: Slices | None = None  # where the truth is that of some samples only
    reorder: Callable[[Draw], Draw | None] | None = None  # makes `other`
    # Do its random numbers go by the layout of its arguments? Then `other` has those of arguments in order.
    by_layout: bool = False

    @cached_property
    def finite(self) -> bool:
        """Are all arguments?"""
        floats = [t for t in tensors(self.arguments) if t.is_floating_point()]
        return all(bool(t.isfinite().all()) for t in floats)

    @cached_property
    def other(self) -> Draw | None:
        """The draw with equal values, or random numbers, in another order, where torch leaves that open: see open_order.py."""
        return self.reorder(self) if self.reorder else None

    def rows(self) -> list[tuple[Any, Callable[[Any], Any], Any]]:
        """Of each result: eager's, how it is cut to where the truth is known, and the truth."""
        whole = [(e, lambda x: x, t) for e, t in zip(self.eager.calls[0], self.truth.calls[0], strict=True)]
        if (found := self.slices) is None:
            return whole
        cuts = [partial(taken, axis=axis, places=found.places) for axis in found.cut.results]
        return [(e, cut, t) for (e, _, t), cut in zip(whole, cuts, strict=True)]

    @cached_property
    def bytes(self) -> int:
        held = tensors([self.arguments, self.eager.calls, self.truth.calls, self.truth.kept])
        return sum({t.data_ptr(): t.numel() * t.element_size() for t in held}.values())


@dataclass
class Errors:
    """Against the truth, run by run, output by output: eager's own, those that candidates are allowed, and by cause those of
    what a candidate may do otherwise: arguments moved by half an ulp, sums in another order."""

    eager: Runs = field(default_factory=list)
    allowed: Runs = field(default_factory=list)
    beside: dict[str, Runs] = field(default_factory=dict)


class Budgets:
    """`others`: kinds on which a candidate may raise. `draw` makes a draw by its name."""

    def __init__(self, reference: Reference, accuracy: str, others: list[str], draw: Callable[[str], Draw]) -> None:
        self.reference, self.accuracy, self.others, self.draw = reference, accuracy, others, draw
        self.has_sums = True  # until another order of summation has changed none
        self.known: dict[str, Errors] = {}

    def of_kind(self, kind: str) -> Errors:
        """On SEEDS draws of a kind, of large ones on as many slices of one. What is `beside` is there at once for the task's own
        kind only."""
        if kind in self.known:
            return self.known[kind]
        count, draw = SEEDS_OF_OTHERS if kind in self.others else SEEDS, self.draw(f"{kind}-0")
        if draw.slices is not None:
            assert draw.sampler is not None
            found = Errors(*draw.sampler.errors(draw, draw.slices, count))
            if kind == "task":
                found.beside = self._beside(draw)
        else:
            found = Errors()
            self._add(found, draw)
            if kind == "task":
                found.beside = self._beside(draw)
            count = seeds_of(count, draw.eager.calls[0], list(draw.eager.after[0].values()))
            del draw  # two large ones do not fit beside each other
            for index in range(1, count):
                self._add(found, self.draw(f"{kind}-{index}"))
        self.known[kind] = found  # only now: whoever lacked memory asks again
        return found

    def of_one(self, draw: Draw) -> Errors:
        """As `of_kind`, on this draw alone, which need not be among those: how exact any kernel can be depends on the values, too.
        Most candidates need no more."""
        if draw.slices is not None:
            assert draw.sampler is not None
            return Errors(*draw.sampler.errors(draw, draw.slices, 1))
        found = Errors()
        self._add(found, draw)
        return found

    def beside(self, name: str) -> dict[str, dict[str, Runs]]:
        """What half an ulp in the arguments does to the truth, and another order of summation to eager, on one draw `of_kind`, where
        nobody has been told yet, and on the very draw. It costs as much as half of all else, so it is asked for only when a candidate would
        be refused. Draws of one kind differ in what they magnify: a row of one value has no variance, and what its mean errs by is
        divided by the root of next to nothing."""
        first = f"{name.rpartition('-')[0]}-0"
        found, told = self.of_kind(first[:-2]), {}
        if not found.beside:
            told["of_kind"] = found.beside = self._beside(self.draw(first))
        if name != first:
            told["of_draw"] = self._beside(self.draw(name))
        return told

    def _beside(self, draw: Draw) -> dict[str, Runs]:
        if draw.slices is not None:
            assert draw.sampler is not None
            return draw.sampler.beside(draw, draw.slices)
        moved = self.reference.run_truth(draw.arguments, draw.state, draw.eager, half_an_ulp(draw.seed))
        half_ulp = compare_calls(draw, moved.calls[:1], moved.after)
        del moved
        return {"half-ulp": half_ulp, "order-of-sums": self._other_order(draw)}

    def of_draw(self, draw: Draw, most: float = OWN_ELEMENTS) -> Errors:
        """Eager's errors on this very draw: how exact any kernel can be depends on the values, too. None of more than `most`
        elements that would have to be compared."""
        sizes = [t.numel() for t in tensors(draw.eager.calls[0])]
        if self.accuracy == "strict" or (draw.slices is None and sum(sizes) > most):
            return Errors()
        return Errors(allowed=compare_calls(draw, draw.eager.calls, draw.eager.after))

    def _add(self, found: Errors, draw: Draw) -> None:
        own = compare_calls(draw, draw.eager.calls, draw.eager.after)
        found.eager += own
        if self.accuracy == "strict":
            run = self._in_single(draw)
            found.allowed += compare_calls(draw, run.calls, run.after)
            return
        if self.accuracy == "tf32":  # in place of eager's own: runs of two precisions would not tell how runs scatter
            with Tf32Matmuls():
                rounded = self.reference.run_eager(draw.arguments, draw.state, draw.seed, len(draw.eager.calls))
            own = compare_calls(draw, rounded.calls, rounded.after)
        found.allowed += own

    def _in_single(self, draw: Draw) -> Truth:
        """The calls in fp32 throughout, whatever narrower types the module names."""
        single = partial(widen, widths=SINGLE)
        with fp32_only():
            return self.reference.run_truth(draw.arguments, draw.state, draw.eager, single, SINGLE)

    def _other_order(self, draw: Draw) -> Runs:
        """Errors of what makes the budget had its sums been added one term after the other."""
        if not self.has_sums:
            return []
        run: Eager | Truth
        try:
            with OneByOne() as mode:
                if self.accuracy == "strict":
                    run = self._in_single(draw)
                else:
                    run = self.reference.run_eager(draw.arguments, draw.state, draw.seed, len(draw.eager.calls))
        except (EagerError, TruthError):  # torch's definition of an operator may not take its arguments
            self.has_sums = False
            return []
        self.has_sums = mode.sums > 0
        return compare_calls(draw, run.calls, run.after) if self.has_sums else []


def compare_calls(draw: Draw, calls: list[list[Any]], states: list[State]) -> Runs:
    """Calls of the reference itself in any precision, narrowed to eager's types before they are measured. A call that repeats
    the one before it is measured once. What eager changed and they did not is as it was: a mean that is zero but for
    rounding may stay zero."""
    found = []
    for index, call in enumerate(calls):
        if index and call is calls[0]:
            continue
        narrow = [_like(value, e) for value, e in zip(call, draw.eager.calls[index], strict=True)]
        after = {name: draw.state[name] for name in draw.eager.after[index]}
        after |= {name: _like(value, draw.state[name]) for name, value in states[index].items()}
        found.append(compare(draw, index, narrow, after))
    return found


def compare(draw: Draw, call: int, leaves: list[Any], state: State) -> list[Measurement]:
    """Measurements of all outputs of one call, then of the state that it left."""
    if draw.slices is not None:
        assert draw.sampler is not None
        return draw.sampler.compare(draw, draw.slices, call, leaves, state)
    names = [draw.eager.name_of(index) for index in range(len(leaves))]
    rows = list(zip(leaves, draw.eager.calls[call], draw.truth.calls[call], strict=True))
    ties = [*draw.truth.ties]
    for name, e in draw.eager.after[call].items():
        if is_plain(name) and name not in state:
            continue  # the candidate does without: it is judged by what it returns
        names.append(f"state:{name}")
        rows.append((state[name], e, draw.truth.after[call][name]))
        ties.append(None)
    rows = _near(rows, ties)
    known = measure_small(rows) if draw.finite and not draw.copied else [None] * len(rows)
    measured = []
    for index, (c, e, t) in enumerate(rows):
        if index >= len(leaves) and not draw.finite:
            c = settled(c, e)
        found = known[index] if ties[index] is None else None
        measured.append({"output": names[index]} | (found or measure(c, e, t, ties[index], draw.copied)))
    return measured


def _near(rows: list[tuple[Any, Any, Any]], ties: list[Ties | None]) -> list[tuple[Any, Any, Any]]:
    """Where small tensors are measured, a hundred for a batch-normed network: on the host. What `measure` would find to be of another
    shape, type or device stays where it is."""

    def alike(c: Any, e: Any, t: Any) -> bool:
        tensors_only = all(isinstance(x, torch.Tensor) for x in (c, e, t))
        return tensors_only and c.device == e.device == t.device and c.dtype == e.dtype and c.shape == e.shape

    which = [i for i, row in enumerate(rows) if ties[i] is None and alike(*row)]
    near = iter(on_host([x for i in which for x in rows[i]]))
    found = dict(zip(which, zip(near, near, near, strict=True), strict=True))
    return [found.get(i, row) for i, row in enumerate(rows)]


def _like(value: Any, e: Any) -> Any:
    """A value in the type of eager's, so that both are measured alike."""
    return value.to(e.dtype) if isinstance(e, torch.Tensor) else value
