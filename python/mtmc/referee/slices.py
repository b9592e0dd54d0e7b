"""Truth in slices: of large results a part is computed in double, where the module treats its samples apart.

A *cut* says along which axis each tensor is divided into samples. It is not trusted but checked, in double, where nothing but
the module itself can make a difference: a few samples must get the same values in other company, in another order and number,
as often as a truth is computed. Whatever does not (statistics over the batch, losses, scans) gets the whole truth.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from mtmc.referee.truth import TruthError
from mtmc.wire.blobs import leaves
from mtmc.wire.plain import State

# Arguments and state of some samples -> in double, call by call, the leaves of the result and the changed entries of the state.
Run = Callable[[list[Any], State], tuple[list[list[Any]], list[State]]]

LARGE_BYTES = 64 << 20  # of arguments and results: below it the whole truth costs nothing
ELEMENTS = 1 << 22  # of arguments and results that are taken into a slice
FEWEST_SAMPLES = 3  # the first, the last, and one that nobody can foretell
SMALLEST_AXIS = 8
LARGEST = 4  # samples that are added because they hold eager's largest elements
DRAWN = 256  # among which are some that are not in a slice, of at most half the samples
TRIES = 12  # cuts that are tried along one axis of the result
SAME, ROUNDING = 1e-9, 1e-12  # how far two values in double may part: of their own size, and of the largest
COARSE = 0.1  # a truth of a slice that is further from eager's is none


class NotSeparableError(Exception):
    """Samples depend on each other, or on how many they are."""


@dataclass(frozen=True)
class Cut:
    """Along which axis each tensor is divided into samples, by leaf; None where all samples share it."""

    size: int  # samples
    arguments: tuple[int | None, ...]
    results: tuple[int, ...]
    state: dict[str, int]

    def of_arguments(self, arguments: list[Any], places: torch.Tensor) -> list[Any]:
        axes = iter(self.arguments)

        def cut(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: cut(part) for key, part in value.items()}
            if isinstance(value, (list, tuple)):
                parts = [cut(part) for part in value]
                return parts if isinstance(value, list) else tuple(parts)
            return taken(value, next(axes), places)

        return [cut(argument) for argument in arguments]

    def of_state(self, state: State, places: torch.Tensor) -> State:
        return {name: taken(value, self.state.get(name), places) for name, value in state.items()}

    def of_call(self, results: list[Any], places: torch.Tensor) -> list[Any]:
        return [taken(leaf, axis, places) for leaf, axis in zip(results, self.results, strict=True)]

    def cost(self, arguments: list[Any], results: list[Any]) -> float:
        """Elements of one sample."""
        axes = [*zip(leaves(arguments), self.arguments, strict=True), *zip(results, self.results, strict=True)]
        return sum(leaf.numel() for leaf, axis in axes if axis is not None) / self.size


@dataclass
class Slices:
    """The truth of some samples; `places` says which."""

    cut: Cut
    places: torch.Tensor
    calls: list[list[torch.Tensor]]
    states: list[State]


def taken(value: Any, axis: int | None, places: torch.Tensor) -> Any:
    return value if axis is None else value.index_select(axis, places.to(value.device))


def find_cut(
    run: Run, arguments: list[Any], state: State, calls: list[list[Any]], changed: list[str], seed: int
) -> Cut | None:
    """A cut that is worth it and under which samples are apart, on these arguments at least; None when there is none. Those
    whose samples are small come first: where memory is short, theirs fit.
    `calls` are eager's, `changed` the entries of the state that
    they change."""
    if not calls[0] or not all(isinstance(r, torch.Tensor) and is_float(r) for r in calls[0]):
        return None  # integers point into values of other samples; numbers are of all samples
    for cut in sorted(cuts(arguments, state, calls[0]), key=lambda cut: max(cut.cost(arguments, calls[0]), ELEMENTS)):
        places = choose(cut, arguments, calls[0], seed)
        if 2 * len(places) > cut.size or not all(name in cut.state or state[name].numel() == 1 for name in changed):
            continue
        try:
            alone = random.Random(seed).sample(range(cut.size), FEWEST_SAMPLES)
            few = _at(alone, calls[0][0])
            found = Slices(cut, few, *run(cut.of_arguments(arguments, few), cut.of_state(state, few)))
            check(run, found, arguments, state, calls, seed)
        except (NotSeparableError, TruthError):
            continue
        return cut
    return None


def is_float(x: torch.Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()


def cuts(arguments: list[Any], state: State, results: list[torch.Tensor]) -> Iterator[Cut]:
    """What may be cut, likely ones first: samples along the first axis of everything, then rows, columns and channels, with
    the entries of the state whose first axis is as long."""
    held = leaves(arguments)
    for axis in range(results[0].dim()):
        size = results[0].shape[axis]
        of_results = [_axes_of(size, result, axis) for result in results]
        if size < SMALLEST_AXIS or not all(of_results):
            continue
        options = [[*_axes_of(size, leaf, axis), None] for leaf in held]
        entries = {name: 0 for name, value in state.items() if value.dim() and value.shape[0] == size}
        tried = itertools.product(itertools.product(*options), [{}, entries] if entries else [{}])
        found = [
            Cut(size, of_arguments, tuple(axes[0] for axes in of_results), of_state)
            for of_arguments, of_state in itertools.islice(tried, 2 * TRIES)
            if of_state or any(one is not None for one in of_arguments)
        ]
        yield from found[:TRIES]


def _axes_of(size: int, value: Any, first: int) -> list[int]:
    """The axes of that size, `first` before the others."""
    if not isinstance(value, torch.Tensor):
        return []
    return sorted((axis for axis in range(value.dim()) if value.shape[axis] == size), key=lambda axis: axis != first)


def choose(
    cut: Cut, arguments: list[Any], results: list[torch.Tensor], seed: int, elements: int | None = None
) -> torch.Tensor:
    """The first sample, the last, and others that only the seed knows, one of each of as many equal parts as `elements` (ELEMENTS)
    allow: samples can be millions of single elements, which no list should hold."""
    most = ELEMENTS if elements is None else elements
    count = min(max(FEWEST_SAMPLES, int(most / cut.cost(arguments, results))), cut.size)
    bounds = 1 + torch.arange(count - 1, dtype=torch.int64) * (cut.size - 2) // (count - 2)
    chance = torch.rand(count - 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    inner = bounds[:-1] + (chance * bounds.diff()).long()
    ends = torch.tensor([0, cut.size - 1])
    return torch.cat([ends[:1], inner, ends[1:]]).to(results[0].device)


def largest(cut: Cut, results: list[torch.Tensor], count: int) -> torch.Tensor:
    """The samples that hold the largest elements of each result, what is not finite first."""
    axes = zip(results, cut.results, strict=True)
    return torch.cat([by_sample(x, axis).topk(min(count, cut.size)).indices for x, axis in axes]).unique()


def furthest(cut: Cut, truth: list[torch.Tensor], eager: list[torch.Tensor]) -> int:
    """The sample where eager differs most from the truth, in any result and relative to its largest element."""
    off = [
        by_sample(e.to(t.dtype) - t, axis) / by_sample(t, axis).max().clamp(min=torch.finfo(torch.float64).tiny)
        for t, e, axis in zip(truth, eager, cut.results, strict=True)
    ]
    return int(torch.stack(off).amax(0).argmax())


def by_sample(x: torch.Tensor, axis: int) -> torch.Tensor:
    """The largest element of each; what is not finite counts as infinite."""
    others = [other for other in range(x.dim()) if other != axis]
    top = torch.linalg.vector_norm(x, torch.inf, dim=others) if others else x.abs()
    return top.nan_to_num(nan=torch.inf, posinf=torch.inf)


def _at(places: list[int], like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(places, dtype=torch.int64, device=like.device)


def sliced_truth(
    run: Run,
    cut: Cut,
    arguments: list[Any],
    state: State,
    calls: list[list[Any]],
    seed: int,
    checked: bool = True,
    elements: int | None = None,
) -> Slices:
    """The truth of a slice of so many `elements`, ELEMENTS by default; NotSeparableError where it is `checked` and cannot be trusted."""
    places = choose(cut, arguments, calls[0], seed, elements)
    more = largest(cut, calls[0], min(LARGEST, 1 + len(places) // 8))
    places = torch.cat([places, more[~torch.isin(more, places)]])
    found = Slices(cut, places, *run(cut.of_arguments(arguments, places), cut.of_state(state, places)))
    if checked:
        check(run, found, arguments, state, calls, seed)
    return found


def extended(run: Run, found: Slices, arguments: list[Any], state: State, more: list[int]) -> Slices:
    """The same with the truth of further samples, whose state after the calls is not asked for."""
    cut, places = found.cut, _at(more, found.places)
    calls, _ = run(cut.of_arguments(arguments, places), cut.of_state(state, places))
    joined = [
        [torch.cat(parts, axis) for *parts, axis in zip(old, new, cut.results, strict=True)]
        for old, new in zip(found.calls, calls, strict=True)
    ]
    return Slices(cut, torch.cat([found.places, places]), joined, found.states)


def check(run: Run, found: Slices, arguments: list[Any], state: State, calls: list[list[Any]], seed: int) -> None:
    """Two of the samples, the one where eager is furthest off and any other, among some that are not in the slice, at other
    places: are they the same? And is the truth roughly what eager returned?"""
    cut, generator, known = found.cut, random.Random(seed + 1), found.places
    own = cut.of_call(calls[0], found.places)
    if [t.shape for t in found.calls[0]] != [e.shape for e in own]:
        raise NotSeparableError("a slice is not what eager returned")
    worst = furthest(cut, found.calls[0], own)
    shared = [worst, (worst + generator.randrange(1, len(known))) % len(known)]
    drawn = _at(generator.sample(range(cut.size), min(cut.size, DRAWN)), known)
    others = drawn[~torch.isin(drawn, known)][:3]
    if not len(others):
        raise NotSeparableError("the slice is everything")
    company = [others[:1], known[shared[1:]], others[1:], known[shared[:1]]]
    places = torch.cat(company)
    again, states = run(cut.of_arguments(arguments, places), cut.of_state(state, places))
    mine, theirs = _at(shared, places), _at([len(places) - 1, 1], places)
    for one, other, eager in zip(found.calls, again, calls, strict=True):
        if not all(map(same, cut.of_call(one, mine), cut.of_call(other, theirs))):
            raise NotSeparableError("samples depend on each other")
        if not all(map(alike, other, cut.of_call(eager, places))):
            raise NotSeparableError("a slice is not what eager returned")
    for one, other in zip(found.states, states, strict=True):
        for name, value in one.items():
            axis = cut.state.get(name)
            if not same(taken(value, axis, mine), taken(other[name], axis, theirs)):
                raise NotSeparableError(f"samples share {name}")


def same(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Two truths of the same samples: is each element the same but for rounding in double?"""
    if x.shape != y.shape:
        return False
    if not is_float(x):
        return torch.equal(x, y)
    if not all_finite(x, y):
        finite = x.isfinite()
        if not torch.equal(finite, y.isfinite()):
            return False
        x, y = x[finite], y[finite]
    if not x.numel():
        return True
    off, size = (x - y).abs(), y.abs()
    least = ROUNDING * size.max()
    return bool(off.max() <= least) or bool((off <= SAME * size + least).all())


def all_finite(*tensors: torch.Tensor) -> bool:
    """Found out by their sums, in one pass; no, too, where those are beyond what their type holds."""
    return all(bool(tensor.sum().isfinite()) for tensor in tensors)


def alike(truth: torch.Tensor, eager: torch.Tensor) -> bool:
    """Is eager's result of this shape, and not quite elsewhere?"""
    if truth.shape != eager.shape:
        return False
    t, e = truth, eager.to(truth.dtype)
    if not all_finite(t, e):
        finite = t.isfinite() & e.isfinite()
        t, e = t[finite], e[finite]
    return bool(torch.linalg.vector_norm(t - e) <= COARSE * torch.linalg.vector_norm(t))
