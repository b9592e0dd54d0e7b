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
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from mtmc.device import kernel_calls

NICE = 5  # they make way for what is timed


class BuildError(Exception):
    """What a process raised, as `Type: text`, or that it died."""


class Builders:
    """`count` processes, each of which a thread of ours waits for. `preloaded`: modules that all of them need."""

    def __init__(self, count: int, preloaded: list[str]) -> None:
        self.server, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "mtmc.tune.builders", str(theirs.fileno()), *preloaded]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self.threads = ThreadPoolExecutor(count)
        self.own = threading.local()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self.threads.submit(self._ask, function, arguments)

    def shutdown(self) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.server.close()
        self.process.kill()
        self.process.wait()

    def _ask(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        line: Connection = getattr(self.own, "line", None) or self._fork()
        try:
            line.send((function, arguments))
            value, error = line.recv()
        except (EOFError, OSError) as gone:
            self.own.line = None
            raise BuildError("the process that compiled it has died") from gone
        if error:
            raise BuildError(error)
        return value

    def _fork(self) -> Connection:
        ours, theirs = socket.socketpair()
        with theirs, contextlib.suppress(OSError):  # the server is gone: whoever talks on the line will see
            socket.send_fds(self.server, [b"f"], [theirs.fileno()])
        self.own.line = Connection(ours.detach())
        return self.own.line


def serve(line: Connection) -> None:
    """A process that compiles."""
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
