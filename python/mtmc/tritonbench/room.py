"""A script of suite G and the tests behind it, run in a locked room: whoever wrote the script is nobody we know. What the tests
keep in variables of their own is what is compared afterwards."""

from __future__ import annotations

import ast
import os
import select
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mtmc.guest.limits import Limits
from mtmc.keeper.processes import kill_tree
from mtmc.keeper.sandbox import Guest, can_own_proc, lock, reach, start_guest
from mtmc.tritonbench.record import kept
from mtmc.tritonbench.task_file import SEPARATOR, TaskFile, run_script
from mtmc.wire.line import Line, Message
from mtmc.wire.task_error import TaskError, first_line

SECONDS = 300.0  # for a script and its tests
Kept = list[dict[str, Any]]  # {name, structure, leaves} of each variable


def names_of(tests: str) -> list[str]:
    """The variables that the tests assign at their top level."""
    names: dict[str, None] = {}
    waiting: list[ast.AST] = [*reversed(ast.parse(tests).body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.ListComp):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = None
        waiting += reversed(list(ast.iter_child_nodes(node)))
    return list(names)


def values_of(namespace: dict[str, Any], names: list[str]) -> Kept:
    found = []
    for name in names:
        value = namespace.get(name)
        if callable(value) or isinstance(value, ModuleType):
            continue
        leaves, spec = pytree.tree_flatten(value)
        found.append({"name": name, "structure": str(spec), "leaves": [kept(leaf) for leaf in leaves]})
    return found


def in_room(folder: Path, device: str, hidden: list[str], life: Callable[[Line], None]) -> Guest:
    """Somebody who lives on a line of ours. The folder, where its caches are, too, is all that it can change; `hidden`: files and
    folders that are empty for it."""
    folder.mkdir(parents=True, exist_ok=True)
    writable = reach([str(folder)], device)

    def main(line: Line) -> None:
        close_all_but(line)
        for name in ("HOME", "TMPDIR", "TRITON_CACHE_DIR", "TRITON_HOME", "XDG_CACHE_HOME"):
            os.environ[name] = str(folder)
        tempfile.tempdir = None  # known from before
        os.chdir(folder)
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 * 3
        lock(writable, Limits(memory_bytes=memory, device=device))
        life(line)
        sys.stdout.flush()

    own_proc = None if device == "cpu" else can_own_proc()
    try:
        return start_guest(main, folder, [], writable, own_proc, hidden)
    except OSError as error:
        raise TaskError("running a script of somebody's", "no locked room can be made", str(error)) from error


def end(guest: Guest) -> None:
    """It is over, whatever it is at."""
    kill_tree(guest.keeper)
    code_of(guest)


def code_of(guest: Guest) -> int:
    """Its exit code, once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(guest.keeper, 0)[1])


def run_in_room(task: TaskFile, code: str, folder: Path, device: str, seed: int, hidden: list[str]) -> dict[str, Any]:
    """{failed: why it did not end well, or ""; output: what it printed; kept; unread: why that is not known, or ""}. The script and
    its results are in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    script, results = folder / "script.py", folder / "kept.pt"
    script.write_text(f"{code}\n{SEPARATOR}\n{task.tests}")
    results.unlink(missing_ok=True)
    guest = in_room(folder, device, hidden, lambda line: line.send(ran(task, code, script, results, seed)))
    try:
        reply = within(guest.line, SECONDS)
        ended = code_of(guest)
        # A script that ends itself ends well with 0, as a shell sees it.
        failed = (
            str(reply.get("failed", "")) if reply is not None else f"it ended with exit code {ended}" if ended else ""
        )
    except TimeoutError as error:
        end(guest)
        failed = str(error)
    output = (folder / "stdout").read_bytes().decode(errors="replace")
    found, unread = [], ""
    try:
        found = [] if failed else read(results)
    except Exception as error:  # anybody may have written it
        unread = f"what its tests keep cannot be read: {first_line(error)}"
    return {"failed": failed, "output": output, "kept": found, "unread": unread}


def close_all_but(line: Line) -> None:
    """The guest speaks with us alone: no pipe of the process that it was forked from is left to it."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in (line.incoming, line.outgoing):
            try:
                os.close(int(name))
            except OSError:
                continue  # the one that listed them


def ran(task: TaskFile, code: str, script: Path, results: Path, seed: int) -> Message:
    try:
        namespace = run_script(task, code, script, None, seed)
        torch.save(values_of(namespace, names_of(task.tests)), results)
    except SystemExit as ended:
        return {"failed": "" if ended.code in (None, 0) else first_line(ended)}
    except BaseException as error:
        return {"failed": first_line(error)}
    return {"failed": ""}


def within(line: Line, seconds: float) -> Message | None:
    """The next message; None: the other end is gone, or says what is none. A TimeoutError: it says nothing in time, or half of it."""
    until = time.monotonic() + seconds
    try:
        while not line.complete():
            if not select.select([line.incoming], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError(f"it took more than {seconds:g} s")
            if not line.read_some():
                return None
        return line.receive()
    except TimeoutError:
        raise
    except (OSError, ValueError):
        return None


def read(results: Path) -> Kept:
    """Of a file that anybody may have written, and is then gone: only plain values, and in the form that `ran` gives them. No link
    is followed: it could lead to the results of others. Nothing where there is no file: a script that ended itself kept none."""
    if not os.path.lexists(results):
        return []
    with os.fdopen(os.open(results, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        found = torch.load(file, weights_only=True)
    results.unlink()
    return [{key: one[key] for key in ("name", "structure", "leaves")} for one in found]
