"""Processes that compile for this one, one thing at a time each. One that has imported torch forks them all. They talk through
sockets and share nothing else: the semaphores of multiprocessing's pools stay in /dev/shm when all of them are killed at once,
as they are. All die with whoever started them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing.connection import Connection
from typing import Any

from mtmc.device import kernel_calls

NICE = 5  # they make way for what is timed

Job = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class BuildError(Exception):
    """What a process raised, as `Type: text`, or that it died."""


class Builders:
    """Processes that each compile one thing at a time, for each of which a thread of ours waits. `preloaded`: modules that all of
    them need; `first`: what each does before anything else."""

    def __init__(self, preloaded: list[str], first: Callable[[], Any] | None = None) -> None:
        self.server, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "mtmc.tune.builders", str(theirs.fileno()), *preloaded]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self.first = first
        self.changed = threading.Condition()  # guards what follows
        self.jobs: deque[Job] = deque()
        self.running: dict[Future[Any], int] = {}  # process numbers
        self.wanted = self.count = 0

    def fit(self, count: int) -> None:
        """There are so many from now on. Those that are too many end when they are done with what they are at."""
        with self.changed:
            self.wanted = count
            begun = range(self.count, count)
            self.count = max(self.count, count)
            self.changed.notify_all()
        for _ in begun:
            threading.Thread(target=self._work, daemon=True).start()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self.changed:
            self.jobs.append((future, function, arguments))
            self.changed.notify()
        return future

    def end(self, future: Future[Any]) -> None:
        """Whoever works on it is killed, and another takes the place."""
        with self.changed:
            if (pid := self.running.get(future)) is not None:
                os.kill(pid, signal.SIGKILL)

    def shutdown(self) -> None:
        self.fit(0)
        self.server.close()
        self.process.kill()
        self.process.wait()

    def _work(self) -> None:
        """A thread's life: one process after another, should one die."""
        builder = self._fork()
        while (job := self._next()) is not None:
            future, function, arguments = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                builder = builder or self._fork()
                if builder is None:
                    raise EOFError
                with self.changed:
                    self.running[future] = builder.pid
                future.set_result(builder.ask(function, arguments))
            except (EOFError, OSError):
                builder = None
                future.set_exception(BuildError("the process that compiled it has died"))
            except BuildError as error:
                future.set_exception(error)
            finally:
                with self.changed:
                    self.running.pop(future, None)

    def _next(self) -> Job | None:
        """None: this thread is one too many."""
        with self.changed:
            while self.count <= self.wanted and not self.jobs:
                self.changed.wait()
            if self.count <= self.wanted:
                return self.jobs.popleft()
            self.count -= 1
            return None

    def _fork(self) -> Builder | None:
        """A new process; None: there is nobody left to make one, or it has died at once."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self.server, [b"f"], [theirs.fileno()])
            builder = Builder(Connection(ours.detach()))
            if self.first is not None:
                with contextlib.suppress(BuildError):  # whatever is wrong, what is compiled will say, too
                    builder.ask(self.first, ())
        except (EOFError, OSError):
            return None
        return builder


class Builder:
    """A process that compiles, as seen from here; EOFError or OSError when it has died."""

    def __init__(self, line: Connection) -> None:
        self.line = line
        self.pid: int = line.recv()

    def ask(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self.line.send((function, arguments))
        value, error = self.line.recv()
        if error:
            raise BuildError(error)
        return value


def serve(line: Connection) -> None:
    """A process that compiles."""
    line.send(os.getpid())
    with contextlib.suppress(EOFError):  # nobody is left to ask
        while True:
            function, arguments = line.recv()
            try:
                answer = function(*arguments), ""
            except Exception as error:  # whatever it raises is its answer
                answer = None, f"{type(error).__name__}: {str(error)[:300]}"
            line.send(answer)


def main() -> None:
    """Forks a process for each line that comes."""
    die_with_parent()
    requests = socket.socket(fileno=int(sys.argv[1]))
    os.nice(NICE)
    for name in sys.argv[2:]:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that end
    while lines := socket.recv_fds(requests, 1, 1)[1]:
        if os.fork() == 0:
            die_with_parent()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            serve(Connection(lines[0]))
            os._exit(0)
        os.close(lines[0])


def die_with_parent() -> None:
    kernel_calls.prctl(kernel_calls.SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
