"""One candidate in the process that holds the task, its truth and eager: what a screen asks, without its walls.

For candidates that nobody doubts, by the thousand (src/eval/trusting_judge.h). Draws, truth and what is measured of results are the
referee's own; calls are timed by the stopwatch that guests have, with the same memory, sweeps and rehearsals around them.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from mtmc.device.device import Device
from mtmc.device.digest import digest
from mtmc.guest.candidate import Refused, construct, entries_of, import_candidate, load_weights, match
from mtmc.guest.failures import classify
from mtmc.guest.stopwatch import Stopwatch
from mtmc.referee.budgets import Draw
from mtmc.referee.lending import same_numbers
from mtmc.referee.open_order import compare_in_order
from mtmc.referee.referee import disordered
from mtmc.referee.reference import State
from mtmc.wire import blobs
from mtmc.wire.blobs import structure_of
from mtmc.wire.by_name import Names, by_place
from mtmc.wire.entries import Entries
from mtmc.wire.forms import form_of, without_values
from mtmc.wire.line import Message
from mtmc.wire.outputs import lazy, tensors
from mtmc.wire.plain import is_plain

SEED = 20250131  # of ModelNew's own random numbers while it is made


class Caller:
    """Calls one module, the candidate or eager, with a draw's arguments, as the judge has calls made. `reset`: before each, its state is that again."""

    def __init__(self, module: Callable[..., Any], device: Device, reset: Callable[[], None] | None) -> None:
        self.module, self.device, self.reset = module, device, reset
        self.watch = Stopwatch(device)

    def call(self, draw: Draw) -> int:
        """The duration in ns; `result` and `arguments` are of this call then."""
        if self.reset:
            self.reset()
        form, values = without_values(form_of(draw.arguments))
        self.watch.arm(form, True, 1)
        for place, value in zip(self.watch.places, tensors(draw.arguments), strict=True):
            place.copy_(value)
        self.device.flush()
        self.watch.rehearse(self.module, self.reset is not None)
        self.device.wake()
        return self.watch.go(self.module, values, draw.seed, False)

    @property
    def result(self) -> Any:
        return self.watch.held[-1]

    @property
    def arguments(self) -> list[torch.Tensor]:
        return self.watch.places


class Trial:
    def __init__(
        self, file: Path, folder: Path, mode: str, by_name: Names, state: State, moving: list[str], device: Device
    ) -> None:
        """Imports the file and makes its ModelNew with the task's weights. Refused: what is wrong with it."""
        self.file, self.state, self.device = file, state, device
        cls = import_candidate(file)
        self.model = construct(cls, folder, file, SEED, device.where, dict(state))
        self.model.train(mode == "train")
        self.weights, self.names = match(self.model, dict(form_of(state)["dict"]))
        self._set(state)
        moved = {name: state[name] for name in moving}
        self.caller = Caller(by_place(self.model, by_name), device, (lambda: self._set(moved)) if moving else None)

    def _set(self, state: State) -> None:
        self._guarded(lambda: load_weights(self.model, state, self.names))

    def _guarded(self, step: Callable[[], Any]) -> Any:
        try:
            done = step()
            self.device.synchronize()
            return done
        except (Exception, SystemExit) as error:
            raise Refused(*classify(error, "raised", self.file)) from error

    def call(self, draw: Draw) -> int:
        elapsed: int = self._guarded(lambda: self.caller.call(draw))
        if why := lazy(self.caller.result):
            raise Refused("lazy-output", why)
        return elapsed

    def measure(self, draw: Draw, in_order: bool) -> Message:
        """What the last call, on this draw, returned and did, against the truth. Refused where that cannot be compared.
        `in_order`: do its arguments lie as the task's do, and so its results?"""
        value, eager = self.caller.result, draw.eager
        if (structure := structure_of(value)) != eager.structure:
            raise Refused("wrong-shape", f"returns {structure} instead of {eager.structure}")
        leaves = blobs.leaves(value) + [self.caller.arguments[number] for number in eager.written]
        if len(leaves) != len(eager.calls[0]):
            raise Refused("wrong-shape", f"returns {len(leaves)} leaves")
        for index, (c, ordered) in enumerate(zip(blobs.leaves(value), eager.ordered, strict=False)):
            if in_order and ordered and disordered(c, eager.calls[0][index]):
                raise Refused("wrong-shape", f"output {index} is not contiguous, and eager's is")
        entries: Entries = entries_of(self.model, {name: self.names.get(name, name) for name in eager.after[0]})
        state = {name: table[key] for name, (table, key) in entries.items()}
        if missing := [name for name in eager.after[0] if name not in state and not is_plain(name)]:
            raise Refused("state-differs", f"{missing[0]} is not there")
        self._leaves_alone(draw)
        return {"outputs": compare_in_order(draw, 0, leaves, state), "hash": digest(value)}

    def _leaves_alone(self, draw: Draw) -> None:
        """Arguments that eager leaves as they are."""
        places = iter(self.caller.arguments)
        for index, argument in enumerate(draw.arguments):
            for value, place in zip(tensors(argument), places):  # noqa: B905, each argument takes as many as it has
                if index not in draw.eager.modified and not same_numbers(place, value):
                    raise Refused("input-modified", f"argument {index} was changed by the call")

    def end(self) -> None:
        """Nothing of the candidate stays."""
        sys.modules.pop("candidate", None)
        del self.caller, self.model
        gc.collect()
