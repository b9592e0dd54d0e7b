"""The draws of the open task by name: their arguments, and what eager and the truth make of them. They are kept while there is
memory for them, and computed again when they are needed.
"""

from __future__ import annotations

import math
import os
import time
from functools import partial
from typing import Any

import torch

from mtmc.referee.budgets import Draw
from mtmc.referee.draws import COPIED, LAYOUTS, make_draw, map_tensors, mixed, seed_of
from mtmc.referee.in_a_row import InARow
from mtmc.referee.measure import LEGACY
from mtmc.referee.open_order import in_other_order, with_eager
from mtmc.referee.reference import CALLS, Eager, EagerError, Reference, State, Truth
from mtmc.referee.sampled import Sampler
from mtmc.referee.slices import LARGE_BYTES, Slices
from mtmc.referee.truth import widen
from mtmc.wire.outputs import bytes_of_all, tensors

KEPT_BYTES, KEPT_ON_GPU = 2 << 30, 8 << 30  # of all draws together
KEPT_WHERE_SHARED = 4 << 30  # on a GPU that other searches use, too (src/base/turn.h)
MOVING = ("task", "weights", "swapped", "repeated")  # kinds that show how a state goes on from call to call
LATER = "+"  # between a draw's name and the number of a call that has arguments of its own
MORE_CALLS = 6  # a draw `repeated` has one to so many calls more than others
COPIES_THERE = 4  # of each result, in memory that is freed before eager is called again
TIMED_SET, MIXED_DRAWS = 1000, 5  # as src/eval/draw_choice.cpp numbers the draws of timed calls


def in_first_set(timed: str) -> bool:
    """Is it one of the draws of timed calls that all screens share?"""
    return int(timed.rpartition("-")[2]) < TIMED_SET


class KeptDraws:
    def __init__(self, reference: Reference, sampler: Sampler, session: int, states: dict[str, State]) -> None:
        """`session`: the seed of all hidden draws; `states`: the module's weights by name, and names that are yet to come."""
        self.reference, self.sampler, self.session, self.states = reference, sampler, session, states
        self.on_gpu = reference.device.name != "cpu"
        shared = bool(os.environ.get("MTMC_TURN"))
        self.most_bytes = (KEPT_WHERE_SHARED if shared else KEPT_ON_GPU) if self.on_gpu else KEPT_BYTES
        self.known: dict[str, Draw] = {}  # the oldest first
        # What takes longest to compute, and is small: the truth of samples of draws that are forgotten.
        self.samples: dict[str, Slices] = {}
        self.seconds = math.inf  # of the quickest draw
        self.full = False  # was one forgotten to make room for another?
        self.timed: dict[str, list[Any]] = {}  # arguments of timed calls that may come again
        # Kinds that are done without where the GPU's memory is too small for their truth: at another size it may be larger than it
        # ever is, and the host's may be too small as well (DenseNet-121's first block: a minute, then nobody was left to answer).
        self.dispensable: list[str] = []
        self.last_try = True  # may the host compute what does not fit the GPU? Not before all that is kept was dropped
        self.watched: list[str] | None = None  # entries of the state that candidates are asked for; once they are known

    def draw(self, name: str, must: bool = False) -> Draw:
        """Arguments, eager and truth of a draw. EagerError when the module itself raises. `must`: it was there before."""
        if name in self.known:
            return self.known[name]
        start = time.perf_counter()
        sizes = [draw.bytes for draw in self.known.values()]
        self._make_room(max(sizes, default=0))  # it will be as large as the others: they must not lie beside it
        kind = name.rpartition("-")[0]
        state = self.states["second" if kind == "weights" else kind if kind in self.states else "first"]
        arguments, seed = self.arguments(name), self.random_seed(name)
        count = CALLS + 1 + seed % MORE_CALLS if kind == "repeated" else CALLS
        eager = self.reference.run_eager(arguments, state, seed, count, kind in MOVING)
        small = bytes_of_all(arguments) + bytes_of_all(eager.calls[0]) < LARGE_BYTES  # else its truth is of samples
        if small and kind in self.dispensable and self._returns_what_lay_there(eager, arguments, state, seed):
            raise EagerError("it returns what lay in memory")
        in_order = self._drawn_in_order(eager, arguments, state, seed) if kind in LAYOUTS and eager.drawn[0] else None
        if in_order is not None and len(eager.drawn[0]) > 1:  # of several a kernel may draw some in another order
            raise EagerError("its random numbers go by the layout of its arguments")
        if kind == "repeated" and small and not (eager.repeats or eager.drawn[0]):
            arguments = InARow(arguments)  # what lasts must tell one call's from another's
            arguments.later = [self.arguments(f"{name}{LATER}{index}") for index in range(1, count)]
            eager = self.reference.run_eager(arguments, state, seed, count)
        if self.watched is not None:
            eager.unseen = any(name not in self.watched for name in eager.state)
            eager.after = [{n: value for n, value in entries.items() if n in self.watched} for entries in eager.after]
        draw = Draw(arguments, seed, state, eager, Truth([], []), kind in COPIED, self.sampler)
        draw.reorder = partial(in_other_order, self.reference)
        if in_order is not None:
            draw.by_layout, draw.reorder = True, lambda draw: with_eager(self.reference, draw, in_order)
        draw.slices = found = self.samples.pop(name, None) or self.sampler.slices(draw)
        if found is not None:
            draw.truth = Truth(found.calls, found.states, [None] * len(eager.calls[0]))
        else:
            anywhere = self.last_try and (must or kind not in self.dispensable)
            draw.truth = self.reference.run_truth(arguments, state, eager, widen, anywhere=anywhere)
        if kind == "one-tensor" and (eager.modified or eager.written):
            raise EagerError("what it writes to one argument it writes to the other")
        if kind == "one-tensor" and not all(bool(t.any()) for t in tensors(draw.truth.calls[0])):
            raise EagerError("the difference of one tensor and itself is nothing")
        self._make_room(draw.bytes)
        self.known[name] = draw
        self.seconds = min(self.seconds, time.perf_counter() - start)
        return draw

    def _returns_what_lay_there(self, eager: Eager, arguments: list[Any], state: State, seed: int) -> bool:
        """Where eager writes no element it has no answer: embedding_bag on one thread, where offsets do not ascend. Only what
        integers lead astray is looked at."""
        if all(tensor.is_floating_point() for tensor in tensors(arguments)):
            return False
        results = [one for one in tensors(eager.calls[0]) if one.is_floating_point()]
        there = [torch.full_like(one, math.nan) for one in results for _ in range(COPIES_THERE)]
        del there  # free, and the first to be used again
        again = self.reference.run_eager(arguments, state, seed, 1, False)
        later = [one for one in tensors(again.calls[0]) if one.is_floating_point()]
        if [one.shape for one in results] != [one.shape for one in later]:
            return True
        return any(bool((one.isfinite() != other.isfinite()).any()) for one, other in zip(results, later, strict=True))

    def _drawn_in_order(self, eager: Eager, arguments: list[Any], state: State, seed: int) -> Eager | None:
        """Eager on the same arguments as they lie in order, where elements get other random numbers there. Operators that keep an order
        draw in it."""
        in_order = map_tensors(arguments, lambda x: x.contiguous())
        again = self.reference.run_eager(in_order, state, seed, len(eager.calls), False)
        ours, theirs = tensors(eager.calls[0]), tensors(again.calls[0])
        same = [one.shape for one in ours] == [other.shape for other in theirs] and all(
            torch.allclose(one, other, LEGACY, LEGACY, equal_nan=True) for one, other in zip(ours, theirs, strict=True)
        )
        return None if same and eager.random_state == again.random_state else again

    def arguments(self, name: str) -> list[Any]:
        """The arguments of a draw, without computing anything about them."""
        if name in self.timed:
            return self.timed[name]
        if name in self.known:
            return self.known[name].arguments
        if (made := self._mixed(name)) is not None:
            return made
        kind, _, index = name.rpartition("-")
        keeps = kind == "timed" and "~" not in index
        if keeps and self.on_gpu and int(index) >= TIMED_SET:  # it will not come again: drawn anew faster than kept
            self.timed = {known: kept for known, kept in self.timed.items() if in_first_set(known)}
        arguments = make_draw(self.reference.task, self.session, kind, index)
        if keeps:
            self.timed[name] = arguments
        return arguments

    def random_seed(self, name: str) -> int:
        """What torch's generator is seeded with before the calls on a draw."""
        return seed_of(self.session, f"{name}-random")

    def forget(self, name: str) -> None:
        for kept in (self.timed, self.known, self.samples):
            kept.pop(name, None)

    def forget_all(self) -> None:
        for kept in (self.timed, self.known, self.samples):
            kept.clear()

    def _make_room(self, size: int) -> None:
        """Forgets the oldest draws until so many bytes more may be kept."""
        while self.known and sum(draw.bytes for draw in self.known.values()) + size > self.most_bytes:
            name, draw = next(iter(self.known.items()))
            if draw.slices is not None:
                self.samples[name] = draw.slices
            del self.known[name]
            self.full = True
        while sum(bytes_of_all([one.calls, one.states]) for one in self.samples.values()) > self.most_bytes / 2:
            del self.samples[next(iter(self.samples))]

    def _mixed(self, name: str) -> list[Any] | None:
        """The arguments of KIND-INDEX~N; None for any other draw. Where nothing could be mixed it is a draw of its own."""
        origin, mixes, _ = name.partition("~")
        first = self.arguments(origin) if mixes else []
        if not any(leaf.is_floating_point() and leaf.numel() > 1 for leaf in tensors(first)):
            return None  # one number would be the same one again
        kind, _, index = origin.rpartition("-")
        other = int(index) // TIMED_SET * TIMED_SET + (int(index) + 1) % TIMED_SET % MIXED_DRAWS
        return mixed(first, self.arguments(f"{kind}-{other}"), self.session, name)
