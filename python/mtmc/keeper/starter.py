"""Lets a stopped process go on while its conductor is already asleep, waiting for the answer: whoever wakes others on a full machine
is put behind them, for milliseconds. So a process of its own does it.

Left alone, the system also wakes two threads on one core now and then, and moves one of them milliseconds later: longer than the
call that is timed. So each that worked lately begins on a core of its own.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterable

from mtmc.device import kernel_calls
from mtmc.keeper.processes import read_some
from mtmc.wire.line import Line

LEAST_NS = 200_000  # of processor time since the last call: who ran for less needs no core


class Starter:
    def __init__(self, foreign: list[int]) -> None:
        """Forks the process. `foreign`: descriptors that are not for it."""
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            kernel_calls.prctl(kernel_calls.SET_PDEATHSIG, signal.SIGKILL)
            kernel_calls.be_prompt()  # whom it wakes may take its core before it is through
            for descriptor in (ours.fileno(), *foreign):
                os.close(descriptor)
            _serve(Line(theirs.fileno(), theirs.fileno()))
        theirs.close()
        self.line = Line(ours.fileno(), ours.fileno())
        ours.detach()
        self.waits = False  # for the process
        self.cores = sorted(os.sched_getaffinity(0))
        self.may_use: dict[int, list[int]] = {}  # of threads that had a core of their own
        self.ran: dict[int, int] = {}  # thread -> for how many ns it has run

    def arrange(self, pids: list[int]) -> Callable[[], None]:
        """For processes that stand still. Gives each thread that worked since the last call a core of its own, as far as there are
        cores: a process's first thread before its others. Returns what lets the processes go on."""
        before, self.ran = self.ran, {thread: ran for pid in pids for thread, ran in running(pid)}
        busy = [thread for thread, ran in self.ran.items() if ran - before.get(thread, 0) >= LEAST_NS]
        busy.sort(key=lambda thread: (thread not in pids, before.get(thread, 0) - self.ran[thread]))
        self.may_use = {thread: self.may_use[thread] for thread in self.ran if thread in self.may_use}
        allowed = {}
        for thread, core in zip(busy, self.cores, strict=False):
            try:
                allowed[thread] = self._cores_of(thread)
                os.sched_setaffinity(thread, {core})
            except OSError:
                allowed.pop(thread, None)  # it has ended, or may not use that core

        def start() -> None:
            self.line.send({"pids": pids, "threads": list(allowed), "cores": list(allowed.values())})
            self.waits = True

        return start

    def _cores_of(self, thread: int) -> list[int]:
        """What it may use. Who has one core has it from us, maybe, or from the thread that made it, which had it from us."""
        now = sorted(os.sched_getaffinity(thread))
        if len(now) > 1:
            self.may_use[thread] = now
        return self.may_use.get(thread, self.cores)

    def settle(self) -> None:
        """Waits until all that were let go have gone on, before any of them is stopped for good: a late signal would make it go on
        again."""
        if self.waits:
            self.line.receive()
        self.waits = False


def _serve(line: Line) -> None:
    while (request := line.receive()) is not None:
        send(request["pids"], signal.SIGCONT)
        line.send({})
        for thread, cores in zip(request["threads"], request["cores"], strict=True):
            allow(thread, cores)  # it has begun, and may go where it wants
    os._exit(0)


def allow(thread: int, cores: Iterable[int]) -> None:
    try:
        os.sched_setaffinity(thread, cores)
    except OSError:
        pass  # it has ended


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass  # it was faster


def running(pid: int) -> list[tuple[int, int]]:
    """The threads of a process, the first one first, and for how many ns each has run (proc(5))."""
    try:
        threads = sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return []  # it has ended
    told = [(thread, read_some(f"/proc/{pid}/task/{thread}/schedstat").split()) for thread in threads]
    return [(thread, int(words[0])) for thread, words in told if words]
