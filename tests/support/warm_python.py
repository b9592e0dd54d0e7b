"""A Python for tests that call the program many times: its tracer is forked from a process that has imported torch already, which is
three quarters of what tracing a small module takes; what fingerprints tasks is, too. Everything else is begun anew by the Python that runs the tests.

`warm_python.py SOCKET` is that process, until its standard input ends; `client` is the text of the program that stands for Python."""

from __future__ import annotations

import atexit
import json
import os
import runpy
import select
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

MODULES = ("mtmc.trace.trace", "mtmc.scan.scan")
CLIENT = """#!{python} -IS
import json, os, socket, sys
if sys.argv[1] != "-m" or sys.argv[2] not in {modules!r}:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
numbers = [number for number in range(5) if os.path.exists(f"/proc/self/fd/{{number}}")]
request = {{"words": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ), "numbers": numbers}}
asked = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asked.connect({place!r})
socket.send_fds(asked, [json.dumps(request).encode()], numbers)
code = int(asked.recv(16))
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def client(place: str) -> str:
    return CLIENT.format(python=sys.executable, modules=MODULES, place=place)


def run_module(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """As `python -m` would in the client's place."""
    code = 1
    try:
        for given, number in zip(
            descriptors, request["numbers"], strict=True
        ):  # ascending, and none is taken before its turn
            os.dup2(given, number)
        os.closerange(5, max(descriptors) + 1)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv, sys.path[0] = request["words"], request["folder"]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        os._exit(code)


def answer(asked: socket.socket) -> NoReturn:
    """Whoever kills the client kills what works for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    words, descriptors, _, _ = socket.recv_fds(asked, 1 << 18, 8)
    worker = os.fork()
    if worker == 0:
        os.close(asked.detach())
        run_module(json.loads(words), descriptors)
    for one in descriptors:
        os.close(one)
    end = os.pidfd_open(worker)
    if end not in select.select([end, asked], [], [])[0]:
        os.kill(worker, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    try:
        asked.send(str(code).encode())
    finally:
        os._exit(0)


def serve(place: str) -> None:
    import torch

    torch.export.export(torch.nn.Identity(), (torch.zeros(1),)).run_decompositions({})
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind(place)
        door.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        while door in select.select([door, sys.stdin], [], [])[0]:
            asked, _ = door.accept()
            if os.fork() == 0:
                door.close()
                answer(asked)
            asked.close()


if __name__ == "__main__":
    serve(sys.argv[1])
    os._exit(0)  # to take torch apart takes long
