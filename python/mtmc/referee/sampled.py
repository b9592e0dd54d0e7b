"""Measures a large result of which some samples have a truth: those against it by the usual rules, the others against eager's.

Where a candidate is further from eager than eager itself from the truth would explain, those samples get their truth too, so
that ill-conditioned elements are judged by what is right. What is left is a number for the judge: `elsewhere`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import torch

from mtmc.referee import slices
from mtmc.referee.draws import seed_of
from mtmc.referee.elsewhere import difference, lost_in, off_truth, other_than_lost, rms, unlike, worst_block
from mtmc.referee.half_ulp import half_an_ulp
from mtmc.referee.measure import LEGACY, OFFICIAL, Measurement, Runs, jsonable, measure, settled
from mtmc.referee.reference import Eager, Reference, State
from mtmc.referee.slices import Cut, NotSeparableError, Run, Slices, extended, find_cut, sliced_truth, taken
from mtmc.referee.summation import OneByOne
from mtmc.referee.truth import SINGLE, TruthError, widen
from mtmc.task.accuracy import Tf32Matmuls, fp32_only
from mtmc.wire.outputs import bytes_of_all, tensors

# Of a draw's results together, or of each: what tells is how many elements are compared, and then these seeds do.
MANY_ELEMENTS, MANY_OF_EACH, SEEDS_OF_MANY = 1 << 25, 1 << 20, 2
ROUNDS, MOST = 4, 16  # how often further samples are asked for, and which part of all at a time
FLOOR = 2.0**-21  # what any fp32 kernel may err
COUNTS = ("nonfinite", "mismatched", "official_bad", "legacy_bad")


class RunDraw(Protocol):
    """What is read of a draw here (see budgets.Draw)."""

    arguments: list[Any]
    seed: int
    state: State
    eager: Eager
    copied: bool

    @property
    def finite(self) -> bool:
        """Are all arguments?"""


@dataclass
class Sampler:
    """The truth of large draws of one task, and what is measured against it."""

    reference: Reference
    session: int
    accuracy: str
    cuts: dict[str, Cut | None] = field(default_factory=dict)  # by the shapes of arguments and results

    def slices(self, draw: RunDraw, number: int = 0) -> Slices | None:
        """The truth of some samples of a large draw, of others for each number; None where its truth must be whole."""
        eager, arguments, state = draw.eager, draw.arguments, draw.state
        size = bytes_of_all(arguments) + bytes_of_all(eager.calls[0])
        if size < slices.LARGE_BYTES or eager.drawn[0]:
            return None
        run, seed = self.reference.run_samples(eager, widen), seed_of(self.session, f"slices-{number}")
        shapes = repr([(tuple(x.shape), x.dtype) for x in tensors([arguments, eager.calls[0]])])
        for samples in (slices.ELEMENTS, 0):  # 0: as few as there may be
            try:
                if shapes not in self.cuts:
                    self.cuts[shapes] = find_cut(run, arguments, state, eager.calls, list(eager.state), seed)
                cut = self.cuts[shapes]
                checked = number == 0  # the others are of the same values
                return cut and sliced_truth(run, cut, arguments, state, eager.calls, seed, checked, samples)
            except (NotSeparableError, TruthError):
                self.cuts[shapes] = None  # the whole truth says what is wrong
                return None
            except torch.OutOfMemoryError:  # at this moment: others hold it
                torch.cuda.empty_cache()
        return None

    def errors(self, draw: RunDraw, first: Slices, count: int) -> tuple[Runs, Runs]:
        """On so many slices of one draw: eager's own and those allowed (see Errors). What tells is how many elements are
        compared."""
        reference, eager, allowed = self.reference, [], []
        count = seeds_of(count, first.calls[0], list(first.states[0].values()))
        if self.accuracy == "tf32":
            with Tf32Matmuls():
                rounded = reference.run_eager(draw.arguments, draw.state, draw.seed, len(draw.eager.calls))
        for number in range(count):
            found = self.slices(draw, number) if number else first
            if found is None:
                continue  # these samples could not be told apart
            own = within(draw, found, *_cut(draw, found, draw.eager))
            eager += own
            if self.accuracy == "eager":
                allowed += own
            elif self.accuracy == "tf32":
                allowed += within(draw, found, *_cut(draw, found, rounded))
            else:
                with fp32_only():
                    single = reference.run_samples(draw.eager, partial(widen, widths=SINGLE), SINGLE)
                    allowed += within(draw, found, *_run_on(draw, found, single))
        return eager, allowed

    def beside(self, draw: RunDraw, first: Slices) -> dict[str, Runs]:
        """On one slice."""
        calls, states = _run_on(draw, first, self.reference.run_samples(draw.eager, half_an_ulp(draw.seed)))
        return {
            "half-ulp": within(draw, first, calls[:1], states[:1]),
            "order-of-sums": self._other_order(draw, first),
        }

    def _other_order(self, draw: RunDraw, found: Slices) -> Runs:
        """Errors of what makes the budget had its sums been added one term after the other."""
        try:
            with OneByOne() as mode:
                if self.accuracy == "strict":
                    single = partial(widen, widths=SINGLE)
                    with fp32_only():
                        run = _run_on(draw, found, self.reference.run_samples(draw.eager, single, SINGLE))
                else:
                    run = _run_on(draw, found, self.reference.run_samples(draw.eager, lambda x: x, {}))
        except TruthError:  # torch's definition of an operator may not take its arguments
            return []
        return within(draw, found, *run) if mode.sums else []

    def compare(self, draw: RunDraw, found: Slices, call: int, leaves: list[Any], state: State) -> list[Measurement]:
        """One call's results, all leaves, and the changed entries of the state after it."""
        run, known = self.reference.run_samples(draw.eager, widen), found
        for last in [False] * ROUNDS + [True]:
            rows, suspects = [], []
            for index, (c, e, t) in enumerate(zip(leaves, draw.eager.calls[call], known.calls[call], strict=True)):
                row, more = compare(c, e, t, found.cut.results[index], known.places, len(found.places), draw.copied)
                rows.append({"output": draw.eager.name_of(index)} | row)
                suspects += more
            if last or not suspects:
                break
            most = max(1, found.cut.size // MOST)
            known = extended(run, known, draw.arguments, draw.state, list(dict.fromkeys(suspects))[:most])
        strange = any(row.get("mismatched") or row.get("nonfinite") for row in rows)
        if strange and lost_by_eager(run, draw, known, call, leaves):
            rows = [{**row, "mismatched": 0, "nonfinite": 0} for row in rows]
        for name, e in draw.eager.after[call].items():
            c, t, axis = state.get(name, draw.state[name]), found.states[call][name], found.cut.state.get(name)
            c = c if draw.finite else settled(c, e)
            if axis is None:
                row = measure(c, e, t, None, draw.copied)
            else:
                row, _ = compare(c, e, t, axis, found.places, len(found.places), draw.copied)
            rows.append({"output": f"state:{name}"} | row)
        return rows


def seeds_of(count: int, call: list[Any], state: list[Any]) -> int:
    """How many of `count` draws make a budget for these results and entries of the state."""
    sizes = [leaf.numel() for leaf in tensors([call, state]) if leaf.is_floating_point()]
    many = sum(sizes) > MANY_ELEMENTS or min(sizes, default=0) > MANY_OF_EACH
    return min(count, SEEDS_OF_MANY) if many else count


def _cut(draw: RunDraw, found: Slices, run: Eager) -> tuple[list[list[Any]], list[State]]:
    """What a call on all samples returned and left of those of a slice."""
    calls = [found.cut.of_call(leaves, found.places) for leaves in run.calls]
    return calls, [found.cut.of_state({**draw.state, **state}, found.places) for state in run.after]


def _run_on(draw: RunDraw, found: Slices, run: Run) -> tuple[list[list[Any]], list[State]]:
    return run(found.cut.of_arguments(draw.arguments, found.places), found.cut.of_state(draw.state, found.places))


def within(draw: RunDraw, found: Slices, calls: list[list[Any]], states: list[State]) -> Runs:
    """Calls of the reference itself on the samples of a slice, in any precision, by the usual rules and by blocks."""
    runs = []
    repeats = draw.eager.calls[-1] is draw.eager.calls[0]
    calls = calls[:1] if repeats else calls
    for index, (leaves, state) in enumerate(zip(calls, states, strict=False)):
        whole = {draw.eager.name_of(i): leaf for i, leaf in enumerate(draw.eager.calls[index])}
        axes = dict(zip(whole, found.cut.results, strict=True))
        mine, truth = dict(zip(whole, leaves, strict=True)), dict(zip(whole, found.calls[index], strict=True))
        for name, value in draw.eager.after[index].items():
            key = f"state:{name}"
            whole[key], axes[key] = value, found.cut.state.get(name)
            mine[key], truth[key] = state[name], found.states[index][name]
        rows = []
        for name, e in whole.items():
            c, t, axis = mine[name].to(e.dtype), truth[name], axes[name]
            block = {} if axis is None else {"block_error": worst_block(off_truth(c, t), rms(t))}
            rows.append(
                {"output": name} | measure(c, taken(e, axis, found.places), t, None, draw.copied) | jsonable(block)
            )
        runs.append(rows)
    return runs


def compare(
    c: Any, e: torch.Tensor, t: torch.Tensor, axis: int, places: torch.Tensor, asked: int, copied: bool
) -> tuple[Measurement, list[int]]:
    """The measurement, and the samples whose truth should be known. The places beyond the first that were `asked` for came
    later, because c is far from e there: they count for the largest element only."""
    alike = isinstance(c, torch.Tensor) and (c.shape, c.dtype, c.device.type) == (e.shape, e.dtype, e.device.type)
    if not alike:
        return measure(c, e, e, None), []  # says what is not alike
    inside, own = taken(c, axis, places), taken(e, axis, places)
    parts = [inside, own, t]
    if asked < len(places):
        first = torch.arange(asked, device=places.device)
        parts = [taken(x, axis, first) for x in parts]
    found, scale = measure(*parts, None, copied), rms(parts[2])
    if asked < len(places):
        found = _with_extremes(found, measure(inside, own, t, None))
    rules = (OFFICIAL.get(e.dtype, LEGACY), LEGACY)
    rest = difference(c, e, axis, places, rules, scale)
    for count in COUNTS:
        found[count] += getattr(rest, count)
    off = off_truth(own, t)
    eager_block, eager_max = worst_block(off, scale), float(off.abs().max())
    found |= {"exact": rest.exact, "poison": rest.poison, "numel": e.numel(), "compared": t.numel()}
    found["block_error"] = worst_block(off_truth(parts[0], parts[2]), scale)
    found["elsewhere"] = jsonable(
        {
            "numel": rest.numel,
            "error": rest.block_error,
            "max_error": rest.max_error,
            "max_eager": rest.max_eager,
            "scale": scale,
            "eager_error": eager_block,
            "eager_max_error": eager_max,
        }
    )
    strange = rest.nonfinite + rest.mismatched > 0
    far = rest.max_error > 3 * eager_max + FLOOR * rest.max_eager or rest.block_error > 2 * eager_block + FLOOR
    return jsonable(found), rest.worst() if strange or far else []


def lost_by_eager(run: Run, draw: RunDraw, known: Slices, call: int, leaves: list[Any]) -> bool:
    """Is every element that is not finite in eager or in c, and other in the other, right by its truth? In as many samples as
    there are: products of TF32 in three parts (fp32 attention on a GPU) make NaN of an infinity, which spreads, and definitions
    keep it; running products that have underflown in eager stay 0 where the truth grows out of the type's range."""
    cut, eager = known.cut, draw.eager.calls[call]

    def right(places: torch.Tensor, truth: list[Any] | None = None) -> bool:
        own, theirs = cut.of_call(leaves, places), cut.of_call(eager, places)
        if truth is None:
            if not any(map(unlike, own, theirs)):
                return True
            calls, _ = run(cut.of_arguments(draw.arguments, places), cut.of_state(draw.state, places))
            truth = calls[call]
        answers = list(zip(own, theirs, truth, strict=True))
        found = (measure(*of, None) for of in answers)
        return all(recovered(*of) for of in answers) and not any(
            m.get("mismatched") or m.get("nonfinite") for m in found
        )

    if not all(
        isinstance(c, torch.Tensor) and (c.shape, c.dtype) == (e.shape, e.dtype)
        for c, e in zip(leaves, eager, strict=True)
    ):
        return False
    try:
        if not right(known.places, known.calls[call]):
            return False
        at_once = max(1, cut.size // MOST)
        for start in range(0, cut.size, at_once):
            places = torch.arange(start, min(start + at_once, cut.size), device=known.places.device)
            places = places[~torch.isin(places, known.places)]
            if len(places) and not right(places):
                return False
    except (torch.OutOfMemoryError, TruthError):
        return False  # nobody knows: the refusal stands
    return True


def recovered(c: torch.Tensor, e: torch.Tensor, t: torch.Tensor) -> bool:
    """Is c near a finite truth wherever it has something else than what eager lost there, and lost only where the truth is?"""
    if e.is_complex():
        c, e, t = (torch.view_as_real(x) for x in (c, e, t))
    rounded = t.to(e.dtype)
    lost = other_than_lost(c, e) & t.isfinite() & (c != rounded)
    near = (c.to(t.dtype) - t).abs() <= LEGACY * (t.abs() + rms(rounded.to(t.dtype)))
    return not bool(((lost & ~near) | (lost_in(c, e) & (c != rounded))).any())


def _with_extremes(found: Measurement, all_known: Measurement) -> Measurement:
    return found | {key: all_known[key] for key in ("max_error", "max_truth", *COUNTS)}
