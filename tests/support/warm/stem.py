"""stem.py PLACE MODULE: imports what a module imports, and forks a process that runs it for each request at that socket (see
`python` beside it), until the socket's folder is gone."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
from typing import Any

import torch

LONGEST = 1 << 20  # bytes of a request
FAR = 64  # above all descriptors that a process is given
SET_PDEATHSIG = 1  # prctl's


def warm_up(module: str) -> None:
    if module == "mtmc.trace.trace":  # as its own processes do that wait for a task
        torch.export.export(torch.nn.Identity(), (torch.zeros(1),)).run_decompositions({})
    if module == "mtmc.rivals.baseline":
        importlib.import_module("torch._dynamo")
    gc.freeze()  # collections in its children skip what is loaded by now


def serve(place: str) -> tuple[dict[str, Any], list[int]]:
    """Returns in a child, with its request and the descriptors that came along."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(place + ".new")
        listener.listen(64)
        os.rename(place + ".new", place)  # whoever sees it is heard
        ended, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken)
        lines: dict[int, socket.socket] = {}  # of the processes that run
        while os.path.exists(place):
            ready = select.select([listener, ended, *lines.values()], [], [], 1)[0]
            for pid in [pid for pid, line in lines.items() if line in ready]:  # who waited for it is gone
                end_group(pid)
            if ended in ready:
                os.read(ended, 1 << 12)
            reap(lines)
            if listener not in ready:
                continue
            line = listener.accept()[0]
            text, given, _, _ = socket.recv_fds(line, LONGEST, FAR)
            if (pid := os.fork()) == 0:
                return json.loads(text), given
            lines[pid] = line
            for descriptor in given:
                os.close(descriptor)
    sys.exit()


def end_group(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)  # it may lead none yet
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def reap(lines: dict[int, socket.socket]) -> None:
    for pid in list(lines):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            continue
        end_group(pid)  # what it left behind
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(BrokenPipeError):
            lines[pid].send(str(status).encode())
        lines.pop(pid).close()


def become(request: dict[str, Any], given: list[int]) -> None:
    """This process is from now on as the program would have started it."""
    ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kept = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, FAR) for descriptor in given]
    os.closerange(3, FAR)
    for descriptor, number in zip(kept, request["descriptors"], strict=True):
        os.dup2(descriptor, number)
    os.closerange(FAR, FAR + 1024)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    tempfile.tempdir = None
    atexit.register(gc.unfreeze)  # else nanobind takes what is frozen for leaks
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.getcwd()
    sys.argv = request["argv"]


def main() -> None:
    _, place, module = sys.argv
    warm_up(module)
    become(*serve(place))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
