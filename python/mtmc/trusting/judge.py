"""The process of the judge that trusts (src/eval/trusting_judge.h): a referee that runs candidates itself.

{"op": "try", "file", "draws": [name], "rounds"} is answered with what was measured of the results on each draw, and the times of
the candidate's calls and eager's in ns, on the first of them; or with `fail` and `message`, a reason word and a sentence. After
`lost` this process is of no use any more: a kernel has broken its GPU.
"""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

import torch

from mtmc.device.cuda import DeviceError
from mtmc.device.turn import turn
from mtmc.guest.candidate import Refused
from mtmc.guest.failures import classify
from mtmc.referee.draws import of_own_layout
from mtmc.referee.referee import Referee
from mtmc.task.task import TaskError
from mtmc.trusting.trial import Caller, Trial
from mtmc.wire.line import REPLIES, REQUESTS, Line, Message, serve

WARM_UPS = 1
BREAKS = ("illegal-access", "device-assert", "timed-out")


class Spent:
    """Where the seconds of a trial went."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.perf_counter()

    def on(self, what: str) -> None:
        now = time.perf_counter()
        self.seconds[what] = round(self.seconds.get(what, 0.0) + now - self.last, 4)
        self.last = now


class TrustingReferee(Referee):
    def __init__(self) -> None:
        super().__init__()
        self.mode = "eval"
        self.eager: Caller | None = None

    def on_open(self, request: Message) -> Message:
        self.eager = None
        gc.unfreeze()
        told = super().on_open(request)
        self.mode = told["mode"]
        if self.draw("task-0").eager.drawn[0]:
            doing, wrong = "exploring a task in one process", "it draws random numbers"
            raise TaskError(doing, wrong, told["mode"] + " mode", "a task that does not, or --judge full")
        gc.collect()
        gc.freeze()  # what is there by now is not looked through after every candidate
        return told

    def on_try(self, request: Message) -> Message:
        file = Path(request["file"])
        try:
            return self._try(file, request["draws"], request["rounds"])
        except torch.OutOfMemoryError:
            raise  # of our own: once more without what is kept
        except Refused as refused:
            if refused.reason == "out-of-memory" and not self.last_try:
                raise torch.OutOfMemoryError(refused.message) from refused
            reason, message = refused.reason, refused.message
        except (DeviceError, RuntimeError) as error:  # of a kernel that was started before
            reason, message = classify(error, "", file)
            if not reason:
                raise
        return {"fail": reason, "message": message, "lost": reason in BREAKS or "captur" in message}

    def _try(self, file: Path, draws: list[str], rounds: int) -> Message:
        assert self.reference is not None and self.device is not None
        first, moving = self.states["first"], self._moved()
        spent = Spent()
        trial = Trial(file, self.folder, self.mode, self.reference.task.by_name, first, moving, self.device)
        try:
            spent.on("loading")
            with turn(alone=False):
                own = self.draw(draws[0])
            trial.call(own)  # which compiles its kernels: nobody waits for that, and it for nobody
            spent.on("first call")
            measured = {}
            for name in draws:
                with turn(alone=False):
                    spent.on("waiting")
                    draw = self.draw(name)
                    trial.call(draw)
                    measured[name] = trial.measure(draw, of_own_layout(name.rpartition("-")[0]))
                    spent.on("measuring")
            times = self._times(trial, draws[0], rounds, spent)
            return {"measured": measured, "weights": trial.weights, **times, "spent": spent.seconds}
        finally:
            trial.end()

    def _moved(self) -> list[str]:
        return list(self.states["moved-first"])

    def _times(self, trial: Trial, name: str, rounds: int, spent: Spent) -> Message:
        """Of calls in pairs, with the GPU to ourselves."""
        assert self.reference is not None and self.device is not None
        with turn(alone=False):
            draw, eager = self.draw(name), self._eager()
        mine, theirs = [], []
        with turn(alone=True):
            spent.on("waiting")
            for round_number in range(-WARM_UPS, rounds):
                one, other = trial.call(draw), eager.call(draw)
                if round_number >= 0:
                    mine.append(one)
                    theirs.append(other)
            spent.on("timing")
        return {"candidate_ns": mine, "eager_ns": theirs}

    def _eager(self) -> Caller:
        """The module itself, with the task's weights."""
        assert self.reference is not None and self.device is not None
        reference, first = self.reference, self.states["first"]
        if self.eager is None:
            moves = bool(self._moved())
            reset = (lambda: reference.load(reference.model, first)) if moves else None
            self.eager = Caller(reference.called, self.device, reset)
        reference.load(reference.model, first)
        return self.eager


def main() -> None:
    os.environ.setdefault("PYTHONHASHSEED", "0")
    serve(Line(REQUESTS, REPLIES), TrustingReferee().handle)


if __name__ == "__main__":
    main()
