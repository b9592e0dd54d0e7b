"""`python -m mtmc.tritonbench.serve`: works on TritonBench tasks, each request in a process of its own that is forked here, where
torch is imported already. A reply is the request's, {"error": a mistake of the user's in words}, or {"bug": a traceback}."""

from __future__ import annotations

import json
import logging
import os
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
from mtmc.tritonbench.split import split
from mtmc.tritonbench.task_file import read_task_file
from mtmc.wire.line import REPLIES, REQUESTS, Line, Message, serve
from mtmc.wire.task_error import TaskError


def answer(request: Message) -> dict[str, Any]:
    """
    split    see split.py
    trace    {task, out: files}: see mtmc.trace.trace, whose reply is in `out`
    attempt  see attempt.py
    golden, attempt_script  see instructed.py
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
    task = read_task_file(file)
    if request["sizes"]:
        task = at_places(task, Path(request["sizes"]["file"]), request["places"])
    return attempt(task, folder, device, request["output"], request["cases"])


def in_a_process(request: Message) -> Message:
    """The answer of a child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            reply = answer(request)
        except TaskError as error:
            reply = {"error": error.message()}
        except BaseException:
            reply = {"bug": traceback.format_exc()}
        with os.fdopen(writing, "w") as pipe:
            json.dump(reply, pipe)
        os._exit(0)
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
    torch.set_num_threads(1)  # a pool of threads would not survive the fork
    torch.export.export(torch.nn.Identity(), (torch.zeros(1),)).run_decompositions({})
    serve(Line(REQUESTS, REPLIES), in_a_process)
    return 0


if __name__ == "__main__":
    sys.exit(main())
