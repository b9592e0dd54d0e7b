"""One timed call at a time, under command of the judge. Candidate and baselines are timed by this same code."""

from __future__ import annotations

import ctypes
import gc
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from mtmc import blobs
from mtmc.device import WINDOW_BYTES, Device, seed_all
from mtmc.outputs import bytes_of_all, overlaps, tensors

SPOTS, SPOT_BYTES = 16, 4
REHEARSED_BYTES = 256 << 20  # of arguments; beyond, a call is long enough
WINDOWS = 4  # of each result on the GPU
SCRIBBLE, SCRIBBLED = 0xFE, 3  # blocks of each result's size: more than one may lie free
SCRIBBLED_BYTES = 256 << 20  # of one size; beyond it a single block, where the old result lay


def overwrite(old: Any, new: Any) -> Any:
    """The new values in the tensors of the old ones, unnoticed by their version counters; what is no tensor is new."""
    if isinstance(new, torch.Tensor):
        old.data.copy_(new)
        return old
    if isinstance(new, Mapping):
        return {key: overwrite(old[key], part) for key, part in new.items()}
    if isinstance(new, (list, tuple)):
        return type(new)(overwrite(*pair) for pair in zip(old, new, strict=True))
    return new


class Stopwatch:
    __slots__ = ("device", "arguments", "result", "previous", "spots", "bases", "waiting", "windows", "random")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.arguments: list[Any] | None = None
        self.result: Any = None
        self.previous: Any = None  # the result before: alive, as a caller may keep it
        self.spots: dict[int, bytes] = {}
        self.bases: dict[str, Any] = {}  # large arguments that later ones hardly differ from
        self.waiting: tuple[list[Any], int, bool] | None = None  # what the next call will be given
        self.windows: list[tuple[int, int]] = []  # address and size, on the GPU
        self.random = random.Random()

    def arm(self, draw: Path, seed: int, same_addresses: bool) -> None:
        """New values for the next call, at new addresses or at those of the last call; then cold caches."""
        self.previous, self.result = self.result, None
        self._scribble()
        fresh = self.load(draw)  # before the old ones go, so that they cannot lie at the same addresses
        self.waiting = (fresh, seed, same_addresses)
        if self.device.name == "cpu" or self.arguments is None or bytes_of_all(fresh) > REHEARSED_BYTES:
            self._take()

    def load(self, draw: Path) -> list[Any]:
        return blobs.load_over(draw, self.bases)

    def _take(self) -> None:
        assert self.waiting is not None
        (fresh, seed, same_addresses), self.waiting = self.waiting, None
        if same_addresses and self.arguments is not None:
            self.arguments = overwrite(self.arguments, fresh)
        else:
            self.arguments = fresh
        seed_all(seed)
        self.device.flush()

    def rehearse(self, call: Callable[..., Any]) -> None:
        """One more call with the values of the last one, right before the new ones are put in their place. A short kernel's
        time is mostly the host's, whose caches are as cold after a round of other processes as no program's are; a GPU's own
        cache is emptied again. The CPU's calls go without: there, these are the caches that shall be cold."""
        if self.waiting is None:
            return
        call(*(self.arguments or []))
        self.device.synchronize()
        self._scribble()  # what it returned is nearly what the next call must return
        self._take()

    def _scribble(self) -> None:
        """Old results leave memory that a new one may get: nearly its values, when the calls' arguments are much alike.
        Work that is done late must not find them there, so such memory is filled with a pattern."""
        sizes = [tensor.untyped_storage().nbytes() for tensor in tensors(self.previous)]
        counts = {size: max(1, min(SCRIBBLED, SCRIBBLED_BYTES // max(size, 1))) for size in sizes}
        where = self.device.where
        blocks = [
            torch.full((size,), SCRIBBLE, dtype=torch.uint8, device=where)
            for size in sizes
            for _ in range(counts[size])
        ]
        blocks.clear()

    def go(self, call: Callable[..., Any]) -> int:
        """Makes the call and keeps its result; the duration in ns."""
        arguments = self.arguments
        assert arguments is not None
        gc.disable()
        try:
            self.result, elapsed = self.device.timed(lambda: call(*arguments))
            self.spots = self._peek(self.result)
        finally:
            gc.enable()
        return elapsed

    def forget(self) -> None:
        """Keeps nothing of the call just timed."""
        self.result, self.spots, self.windows = None, {}, []

    def _peek(self, value: Any) -> dict[int, bytes]:
        """A few words of the result at places that nobody can guess, read the moment the clock has stopped. Of a result on
        the GPU, fewer and longer pieces are copied there: reading them here would take longer than many a call."""
        spots = {}
        self.windows = []
        for tensor in tensors(value)[:4]:
            storage = tensor.untyped_storage()
            start, size = storage.data_ptr(), storage.nbytes()
            words = size // SPOT_BYTES
            if tensor.device.type != "cpu":
                last = max(0, size - WINDOW_BYTES) // SPOT_BYTES + 1
                places = [start + SPOT_BYTES * int(self.random.random() * last) for _ in range(WINDOWS if words else 0)]
                self.windows += [(place, min(size, WINDOW_BYTES)) for place in places]
                continue
            for _ in range(min(words, SPOTS) if start else 0):
                place = start + SPOT_BYTES * int(self.random.random() * words)
                spots[place] = ctypes.string_at(place, SPOT_BYTES)
        if self.windows:
            self.device.copy_windows(self.windows)
        return spots

    def written_later(self) -> bool:
        """Has the result changed since the clock stopped?"""
        if self.windows and self.device.windows_changed(self.windows):
            return True
        return any(ctypes.string_at(place, SPOT_BYTES) != word for place, word in self.spots.items())

    def reused(self) -> bool:
        """Does the result lie in the memory of the one before?"""
        return overlaps(tensors(self.result), tensors(self.previous))
