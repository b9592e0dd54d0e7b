"""One call at a time, under command of the judge: memory for its arguments is made here, their values are put there from outside
while this process stands still. Candidates and rivals make all their calls through this same code, whether anybody measures the
results, the time, or both.
"""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from mtmc.device.device import Device
from mtmc.device.random_state import random_state_kept, seed_all
from mtmc.wire import blobs
from mtmc.wire.forms import Form, form_of, make_all, rebuilt, scalar_of, span_of
from mtmc.wire.outputs import lazy, tensors

PAGE_BYTES = 4096
REHEARSED_BYTES, REHEARSED_NS = 256 << 20, 5_000_000  # of arguments, of the last call: beyond, a call is long
LEAST_DELAY, MOST_DELAY = 0.001, 0.02  # seconds; before a first call, which may compile, and at most
MOST_APART = 4 << 30  # bytes of arguments; larger ones may lie where the last ones lay
MOST_HELD = 24  # results that a caller keeps while it makes more calls
WHOLE_BYTES = 1 << 30  # of a result that is copied to see whether it was there; of a larger one
SPARSE = 61  # one byte of so many is: no width of a row or a tile is a multiple


def looked_at(result: Any) -> list[torch.Tensor]:
    """What of a result tells whether it was there: a copy of gigabytes beside it may find no room."""
    return [x if x.nbytes <= WHOLE_BYTES else span_of(x)[::SPARSE] for x in tensors(result)]


class Stopwatch:
    __slots__ = (
        "device",
        "clock",
        "now",
        "form",
        "places",
        "before",
        "kept",
        "held",
        "memory",
        "last_ns",
        "host_ns",
        "early",
    )

    def __init__(self, device: Device) -> None:
        self.device = device
        self.clock = device.timed  # bound: its class may be changed
        self.now = time.perf_counter_ns  # before the candidate comes
        self.form: Form = {"list": []}
        self.places: list[torch.Tensor] = []  # the memory of the arguments of the call to come, or of the last one
        self.before: list[Any] | None = None  # the last call's arguments
        self.kept: list[torch.Tensor] = []  # those of the call before, which the caller still has
        self.held: deque[Any] = deque(maxlen=1)  # results: alive, as a caller may keep them
        # Theirs: other weights may take the place of a tensor that is the module's.
        self.memory: deque[Any] = deque(maxlen=1)
        self.last_ns = 0  # of the last call, until all streams were idle
        self.host_ns = 0  # for which the last call kept the host, about
        self.early = False  # was the last result copied before it was there?

    def arm(
        self, form: Form, same_addresses: bool, hold: int, keep: bool = False, drop: int = 0
    ) -> list[dict[str, Any]]:
        """Memory for the arguments of the next call, new or the last call's, and where it lies. `hold`: how many of the last
        results stay alive in it, but for the one so far behind the last as `drop` says; `keep`: so do the last call's arguments."""
        self.kept = self.places if keep else []
        if not (same_addresses and self.places and form == self.form):
            if sum(tensor.nbytes for tensor in self.places) > MOST_APART:
                self.places, self.before = [], None
            self.places = make_all(form)  # before the old is gone, so that it cannot lie at the same addresses
        self.form = form
        most = max(1, min(hold, MOST_HELD))
        self.held, self.memory = (deque(one if hold else (), maxlen=most) for one in (self.held, self.memory))
        if 0 < drop <= len(self.held) == len(self.memory):
            del self.held[-drop], self.memory[-drop]
        return [self.device.place(span_of(tensor)) for tensor in self.places]

    def rehearse(self, call: Callable[..., Any], changes: bool) -> None:
        """One more call with the values of the last one, but for a call that `changes` the module's state, which was set for the
        next one; the random numbers of that one are not used up. A short kernel's time is mostly the host's, whose caches are as
        cold after a round of other processes as no program's are. The CPU's calls go without: there, these are the caches that
        shall be cold; only memory for a result like the last one is there already, since to get it from the system may take
        several times as long as the call."""
        if self.device.name == "cpu":
            for kept in [[torch.empty_like(x) for x in tensors(value)] for value in list(self.held)[-1:]]:
                for tensor in kept:
                    span_of(tensor)[::PAGE_BYTES] = 0
            return
        if self.before is None:
            return
        short = self.last_ns <= REHEARSED_NS and sum(x.nbytes for x in tensors(self.before)) <= REHEARSED_BYTES
        if short and not changes:
            with random_state_kept():
                call(*self.before)
                self.device.synchronize()
        self.before = None

    def go(self, call: Callable[..., Any], values: list[Form], seed: int | None, late: bool) -> int:
        """Makes the call on what lies in its places and keeps the result; the duration in ns. `values`: the scalars among the
        arguments. `late`: the arguments get their values on the caller's stream only when it has been busy for a while, and the
        result is copied there at once: what runs beside that stream reads too early, or is copied too early."""
        arguments = self.arguments(values)
        if seed is not None:
            seed_all(seed)
        copies: list[torch.Tensor] = []
        now = self.now

        delay = min(LEAST_DELAY + 2 * self.host_ns * 1e-9, MOST_DELAY) if late else 0.0

        def play() -> Any:
            self._come_late(delay)
            began = now()
            value = call(*arguments)
            took, waited = now() - began, int(delay * 1e9)
            self.host_ns = took - waited if took > waited else took  # who waits for the device has waited for the delay
            if not lazy(value):
                copies.extend(part.clone() for part in looked_at(value))
            return value

        gc.disable()
        try:
            result, elapsed = self.clock(play if late else lambda: call(*arguments))
        finally:
            gc.enable()
        self.early = bool(copies) and not all(map(blobs.same_bits, copies, looked_at(result)))
        self.before, self.last_ns = arguments, max(0, elapsed - int(delay * 1e9))
        if not late:
            self.host_ns = elapsed
        self.held.append(result)
        return elapsed

    def hold(self) -> None:
        """The memory of the last result, which is no lazy one, stays as long as that."""
        self.memory.append([tensor.untyped_storage() for tensor in tensors(self.held[-1])])

    def arguments(self, values: list[Form]) -> list[Any]:
        """Those that lie in their places by now, with these scalars among them."""
        scalars, places = iter(values), iter(self.places)
        return rebuilt(self.form, lambda _: next(places), lambda _: scalar_of(next(scalars)))

    def _come_late(self, delay: float) -> None:
        held = [t for t in self.places if t.numel() and not torch._debug_has_internal_overlap(t)]
        values = [tensor.clone() for tensor in held]
        for tensor in held:
            tensor.data.zero_()
        self.device.synchronize()
        self.device.delay(delay)
        for tensor, value in zip(held, values, strict=True):
            tensor.data.copy_(value)

    def described(self, value: Any) -> Form:
        """The form of a result, with the places of its tensors."""
        form = form_of(value)
        found = iter(tensors(value))

        def placed(one: Form) -> Form:
            tensor = next(found)
            one |= {"stride": list(tensor.stride()), **self.device.place(span_of(tensor))}
            return one

        rebuilt(form, placed, lambda _: None)
        return form

    def forget(self) -> None:
        """Keeps no result."""
        self.held.clear()
        self.memory.clear()
