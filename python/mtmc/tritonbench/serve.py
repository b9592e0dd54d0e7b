"""`python -m mtmc.tritonbench.serve`: works on TritonBench tasks, each request in a process of its own that is forked here, where
torch is imported already. A reply is the request's, {"error": a mistake of the user's in words}, or {"bug": a traceback}."""

from __future__ import annotations

import importlib
import json
import logging
import os
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import torch

from mtmc.trace.trace import write_trace
from mtmc.tritonbench.attempt import attempt
from mtmc.tritonbench.instructed import attempt_script, golden
from mtmc.tritonbench.performance import at_places
from mtmc.tritonbench.side_by_side import measure
from mtmc.tritonbench.split import split
from mtmc.tritonbench.task_file import read_task_file
from mtmc.wire.line import REPLIES, REQUESTS, Line, Message, serve
from mtmc.wire.task_error import TaskError

# What tracing imports when it is first done. It is not done here: its decompositions ask CUDA's runtime for devices.
USED = ("torch._functorch.aot_autograd", "torch._inductor.utils")


def answer(request: Message) -> dict[str, Any]:
    """
    split    see split.py
    trace    {task, out: files}: see mtmc.trace.trace, whose reply is in `out`
    attempt  see attempt.py
    golden, attempt_script  see instructed.py
    measure  see side_by_side.py
    """
    if request["op"] == "trace":
        return {"code": write_trace(request["task"], request["out"])}
    file, folder, device = Path(request["file"]), Path(request["folder"]), request["device"]
    if request["op"] == "split":
        return split(file, folder, device, request["sizes"])
    if request["op"] == "golden":
        return golden(file, folder, device, request["hidden"])
    if request["op"] == "attempt_script":
        return attempt_script(file, folder, device, request["output"], request["code"], request["hidden"])
    if request["op"] == "measure":
        return measure(file, folder, device, request["sizes"], request["code"], request["hidden"])
    task = read_task_file(file)
    if request["sizes"]:
        task = at_places(task, Path(request["sizes"]["file"]), request["places"])
    return attempt(task, folder, device, request["output"], request["cases"])


def reply_to(request: Message) -> Message:
    try:
        return answer(request)
    except TaskError as error:
        return {"error": error.message()}
    except BaseException:
        return {"bug": traceback.format_exc()}


def forks_have_gpus() -> bool:
    """Whether a process that is forked here can use CUDA. It cannot once anything has asked CUDA's runtime for its devices."""
    child = os.fork()
    if child == 0:
        os._exit(int(torch.cuda._is_in_bad_fork()))
    return os.waitpid(child, 0)[1] == 0


def in_a_process(request: Message, forks: bool) -> Message:
    """The answer of a child: one that is forked, or else begun anew, which takes seconds."""
    reading, writing = os.pipe()
    if forks:
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as pipe:
                json.dump(reply_to(request), pipe)
            os._exit(0)
    else:
        argv = [sys.executable, "-m", "mtmc.tritonbench.serve", str(writing)]
        started = subprocess.Popen(argv, stdin=subprocess.PIPE, text=True, pass_fds=(writing,))
        child = started.pid
        assert started.stdin
        with started.stdin:
            json.dump(request, started.stdin)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if text:
        return json.loads(text)
    return {"error": f"{request['op']}: the process was ended by signal {os.waitstatus_to_exitcode(status) * -1}"}


def main() -> int:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    if len(sys.argv) > 1:  # begun for one request
        writing = int(sys.argv[1])
        for descriptor in {REQUESTS, REPLIES} - {writing}:  # what is forked for a room closes them
            os.dup2(nowhere, descriptor)
        with os.fdopen(writing, "w") as pipe:
            json.dump(reply_to(json.load(sys.stdin)), pipe)
        return 0
    torch.set_num_threads(1)  # a pool of threads would not survive the fork
    for name in USED:
        importlib.import_module(name)
    forks = forks_have_gpus()
    serve(Line(REQUESTS, REPLIES), lambda request: in_a_process(request, forks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
