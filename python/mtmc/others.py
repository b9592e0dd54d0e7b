"""The guests beside the one that is judged: those that make themselves ready for candidates to come, and those that compile
what will be judged soon.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from dataclasses import dataclass

from mtmc.processes import signal_descendants, unshared_memory, usage
from mtmc.sandbox import Guest, Limits
from mtmc.wire import Message

WATCH_SECONDS = 0.05
MOST_SECONDS = 300.0  # that a guest works beside others


@dataclass
class Worker:
    """A guest that works while nobody waits for it."""

    guest: Guest
    limits: Limits
    unanswered: int
    until: float


class Others:
    """`start` makes a guest as a request wants it, `finish` ends one."""

    def __init__(self, start: Callable[[Message], Guest], finish: Callable[[Guest], None]) -> None:
        self.start, self.finish = start, finish
        self.spares: dict[str, Guest] = {}  # by their folders; have been asked `hello`
        self.workers: dict[str, Worker] = {}  # by their folders

    def guests(self) -> list[Guest]:
        return [*self.spares.values(), *(worker.guest for worker in self.workers.values())]

    def prepare(self, request: Message) -> None:
        spare = self.start(request)
        try:
            spare.line.send({"op": "hello"})
        except OSError:
            self.finish(spare)  # whoever needs it starts another, and says what is wrong
        else:
            self.spares[request["folder"]] = spare

    def take(self, folder: str) -> Guest | None:
        """A guest that was prepared, its first answer still to come."""
        return self.spares.pop(folder, None)

    def post(self, request: Message) -> None:
        """A guest begins to work on all that is `posted`."""
        folder = request["folder"]
        spare, until = self.take(folder), time.perf_counter() + MOST_SECONDS
        unanswered = len(request["posted"]) + (0 if spare is None else 1)
        worker = Worker(spare or self.start(request), Limits(**request["limits"]), unanswered, until)
        self.workers[folder] = worker
        try:
            for message in request["posted"]:
                worker.guest.line.send(message)
        except OSError:
            self.dismiss(folder)  # it has died: the candidate's next guest will, too, and say why

    def leave(self, folder: str, timeout: float) -> None:
        """Waits until a worker has answered all, and ends it."""
        until = time.perf_counter() + timeout
        while folder in self.workers and time.perf_counter() < until:
            select.select([self.workers[folder].guest.line.incoming], [], [], WATCH_SECONDS)
            self.watch()
        self.dismiss(folder)

    def dismiss(self, folder: str) -> None:
        if worker := self.workers.pop(folder, None):
            self.finish(worker.guest)

    def watch(self) -> None:
        """Ends workers that are done, and those that take too much: why will be seen when their candidates are judged."""
        for folder, worker in list(self.workers.items()):
            late = time.perf_counter() > worker.until
            if not self._goes_on(worker) or late or excess(worker.guest, worker.limits):
                self.dismiss(folder)

    def _goes_on(self, worker: Worker) -> bool:
        """Reads what it has answered; False when nothing more will come."""
        line = worker.guest.line
        try:
            while worker.unanswered > 0 and select.select([line.incoming], [], [], 0)[0]:
                if not line.read_some():
                    return False
                while line.complete():
                    line.receive()
                    worker.unanswered -= 1
        except (ConnectionResetError, ValueError):  # gone, or it writes what is no answer
            return False
        return worker.unanswered > 0

    def signal(self, number: int) -> None:
        for guest in self.guests():
            signal_descendants(guest.keeper, guest.init, number)


def excess(guest: Guest, limits: Limits) -> tuple[str, str] | None:
    """For what a guest must be ended: a reason word and a sentence."""
    used = usage(guest.keeper, without=guest.init, most=limits.processes + 1)
    if used.processes > limits.processes or used.threads > limits.threads:
        return "too-many-processes", f"{used.processes} or more processes with {used.threads} threads"
    if used.memory_bytes > limits.memory_bytes:
        memory = unshared_memory(guest.keeper)
        if memory > limits.memory_bytes:
            return "out-of-memory", f"{memory >> 20} MiB of {limits.memory_bytes >> 20} MiB"
    return None
