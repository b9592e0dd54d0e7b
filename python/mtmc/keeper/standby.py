"""Guests that warm up or precompile while another is judged. A spare warms up for a candidate to come; a worker loads and compiles
a candidate that may be judged next. A worker that has done so without any fault waits to become the guest that is judged.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mtmc.guest.limits import Limits
from mtmc.keeper.processes import signal_descendants, unshared_memory, usage
from mtmc.keeper.sandbox import Guest
from mtmc.wire.line import Message

WATCH_SECONDS = 0.05
MOST_SECONDS = 300.0  # that a worker may work, or wait when it has done so
MOST_DONE = 3  # that wait: each holds memory


@dataclass
class Worker:
    """A guest that answers requests while nobody waits for it."""

    guest: Guest
    limits: Limits
    unanswered: int
    until: float
    replies: list[Message] = field(default_factory=list)


class Standby:
    """`start` makes a guest as a request wants it, `finish` ends one."""

    def __init__(self, start: Callable[[Message], Guest], finish: Callable[[Guest], None]) -> None:
        self.start, self.finish = start, finish
        self.spares: dict[str, Guest] = {}  # by their folders; have been asked `hello`
        self.workers: dict[str, Worker] = {}  # by their folders

    def guests(self) -> list[Guest]:
        return [*self.spares.values(), *(worker.guest for worker in self.workers.values())]

    def add_spare(self, request: Message) -> None:
        spare = self.start(request)
        try:
            spare.line.send({"op": "hello"})
        except OSError:
            self.finish(spare)  # whoever needs it starts another, and says what is wrong
        else:
            self.spares[request["folder"]] = spare

    def take_spare(self, folder: str) -> Guest | None:
        """The spare of that folder, its first answer still to come."""
        return self.spares.pop(folder, None)

    def prepare(self, request: Message) -> None:
        """A worker begins to answer `requests`."""
        folder = request["folder"]
        if folder not in self.spares:
            self.add_spare(request)
        if (spare := self.take_spare(folder)) is None:
            return
        unanswered, until = 1 + len(request["requests"]), time.perf_counter() + MOST_SECONDS
        worker = self.workers[folder] = Worker(spare, Limits(**request["limits"]), unanswered, until)
        try:
            for message in request["requests"]:
                worker.guest.line.send(message)
        except OSError:
            self.dismiss(folder)  # it has died: the candidate's next guest will, too, and say why

    def leave(self, folder: str, timeout: float) -> None:
        """Waits until a worker has answered all, and ends it. A spare ends at once."""
        if worker := self.adopt(folder, timeout):
            self.finish(worker.guest)

    def adopt(self, folder: str, timeout: float) -> Worker | None:
        """Waits until a worker has answered all; it stands by no longer. None where it did not come so far."""
        until = time.perf_counter() + timeout
        while folder in self.workers and self.workers[folder].unanswered and time.perf_counter() < until:
            select.select([self.workers[folder].guest.line.incoming], [], [], WATCH_SECONDS)
            self.watch()
        if folder in self.workers and not self.workers[folder].unanswered:
            return self.workers.pop(folder)
        self.dismiss(folder)
        return None

    def dismiss(self, folder: str) -> None:
        if worker := self.workers.pop(folder, None):
            self.finish(worker.guest)
        if spare := self.spares.pop(folder, None):
            self.finish(spare)

    def watch(self) -> None:
        """Ends workers that failed, and those that take too much: why will be seen when their candidates are judged. Of those
        that are done the newest may wait."""
        for folder, worker in list(self.workers.items()):
            late = time.perf_counter() > worker.until
            if not self._goes_on(worker) or late or excess(worker.guest, worker.limits):
                self.dismiss(folder)
        done = [folder for folder, worker in self.workers.items() if not worker.unanswered]
        for folder in done[:-MOST_DONE]:
            self.dismiss(folder)

    def _goes_on(self, worker: Worker) -> bool:
        """Reads what it has answered; False when it is of no use any more."""
        line = worker.guest.line
        try:
            while worker.unanswered and select.select([line.incoming], [], [], 0)[0]:
                if not line.read_some():
                    return False
                while worker.unanswered and line.complete():
                    worker.replies.append(line.receive() or {})
                    worker.unanswered -= 1
        except (ConnectionResetError, ValueError):  # gone, or it writes what is no answer
            return False
        return not any("fail" in reply for reply in worker.replies)

    def signal(self, number: int) -> None:
        for guest in self.guests():
            signal_descendants(guest.keeper, guest.init, number)


def excess(guest: Guest, limits: Limits) -> tuple[str, str] | None:
    """For what a guest must be ended: a reason word and a sentence."""
    used = usage(guest.keeper, without=guest.init, most=limits.processes + 1)
    if used.processes > limits.processes or used.threads > limits.threads:
        return "too-many-processes", f"{used.processes} or more processes with {used.threads} threads"
    if used.memory_bytes > limits.memory_bytes:
        memory = unshared_memory(guest.keeper, limits.processes + 1)  # and its init
        if math.isinf(memory):
            return "too-many-processes", f"more than {limits.processes} processes"
        if memory > limits.memory_bytes:
            return "out-of-memory", f"{int(memory) >> 20} MiB of {limits.memory_bytes >> 20} MiB"
    return None
