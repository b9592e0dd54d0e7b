"""A locked room for one candidate: own process, user, network and IPC namespaces, read-only files, limits.

    zygote ── keeper (collects orphans, knows how the guest ended)
                └─ init (process 1 of the guest's namespace: when it ends, the kernel ends all that the guest started)
                     └─ guest (runs the candidate)

Levels, strongest first: `bubblewrap` (the zygote itself runs inside bwrap), `namespaces`, `rlimits` (a kernel that grants
no namespaces). Landlock and seccomp are added at every level where the kernel has them.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mtmc.device import kernel_calls
from mtmc.guest.limits import Limits
from mtmc.keeper.processes import kill_descendants, process_tree
from mtmc.wire.line import Line

NAMESPACES = kernel_calls.NEWUSER | kernel_calls.NEWPID | kernel_calls.NEWNET | kernel_calls.NEWIPC | kernel_calls.NEWNS
ONLY_LIMITS = os.environ.get("MTMC_SANDBOX") == "rlimits"  # to try the weakest level where the kernel has more


@dataclass
class Guest:
    """A running guest, seen from the zygote."""

    keeper: int  # process ids
    init: int
    guest: int
    line: Line
    parts: list[str]  # what the room is made of


def start_guest(
    main: Callable[[Line], None],
    folder: Path,
    foreign: list[int],
    writable: list[str],
    own_proc: bool | None = None,
    hidden: list[str] | None = None,
) -> Guest:
    """Forks a guest that runs `main` on its end of a private line; its standard output goes to files in the folder.
    `foreign`: descriptors that it must not inherit. `writable`: what it may change. `hidden`: files that are empty for it. `own_proc`: CUDA looks for its process
    in /proc; True where the guest can have a /proc of its own namespace, False where it must stay in ours, None when it does
    not matter."""
    ours, theirs = socket.socketpair()
    news_read, news_write = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        ours.close()
        for descriptor in (news_read, *foreign):
            os.close(descriptor)
        _keep(main, theirs, news_write, folder, writable, own_proc, hidden or [])
    theirs.close()
    os.close(news_write)
    news = Line(news_read, -1).receive()
    os.close(news_read)
    line = Line(ours.fileno(), ours.fileno())
    ours.detach()
    if news is None:
        raise OSError("the sandbox could not be entered")
    return Guest(keeper, news["init"], news["guest"], line, news["parts"])


def _keep(
    main: Callable[[Line], None],
    line: socket.socket,
    news: int,
    folder: Path,
    writable: list[str],
    own_proc: bool | None,
    hidden: list[str],
) -> None:
    """The keeper: makes the namespaces, starts init and passes on how the guest ended."""
    os.setsid()
    for descriptor in (3, 4):
        os.close(descriptor)  # the judge's own line
    kernel_calls.prctl(kernel_calls.SET_PDEATHSIG, signal.SIGKILL)
    kernel_calls.prctl(kernel_calls.SET_CHILD_SUBREAPER, 1)
    parts = []
    flags = NAMESPACES if own_proc is not False else NAMESPACES & ~kernel_calls.NEWPID
    try:
        if not ONLY_LIMITS:
            kernel_calls.unshare(flags)
            parts.append("namespaces")
            kernel_calls.read_only_but(outermost(writable), hidden)
            parts.append("mounts")
    except OSError:
        pass  # this kernel grants no more: `parts` says so
    ready_read, ready_write = os.pipe()
    init = os.fork()
    if init == 0:
        os.close(ready_read)
        kernel_calls.prctl(kernel_calls.SET_PDEATHSIG, signal.SIGKILL)
        if own_proc and parts:
            kernel_calls.own_proc()
        _init(main, line, ready_write, folder)
    line.close()
    os.close(ready_write)
    if Line(ready_read, -1).receive() is not None:
        guest = (process_tree(init) + [init])[1]  # its number here; init has no other child yet
        Line(-1, news).send({"init": init, "guest": guest, "parts": parts})
    os.close(news)
    status = os.waitpid(init, 0)[1]
    kill_descendants(os.getpid())  # without a process namespace init's children outlive it
    _exit_like(status)


def _init(main: Callable[[Line], None], line: socket.socket, ready: int, folder: Path) -> None:
    """Process 1: starts the guest, reaps whatever is left to it, ends with the guest and like the guest."""
    go_read, go_write = os.pipe()
    guest = os.fork()
    if guest == 0:
        kernel_calls.prctl(kernel_calls.SET_PDEATHSIG, signal.SIGKILL)  # where init's end is not everybody's
        os.read(go_read, 1)
        os.close(go_read)
        os.close(go_write)
        os.close(ready)
        _redirect(folder)
        main(Line(line.fileno(), line.fileno()))
        os._exit(0)
    Line(-1, ready).send({"forked": True})
    os.close(ready)
    line.close()
    os.write(go_write, b"g")
    while True:
        pid, status = os.wait()
        if pid == guest:
            _exit_like(status)


def reach(folders: list[str], device: str) -> list[str]:
    """All that a guest may change: its folders, and what its device needs."""
    needed = ["/dev/null"]
    if device != "cpu":
        needed += [*device_files(), "/proc"]  # CUDA writes about its own process there
    return [*folders, *needed]


def outermost(paths: list[str]) -> list[str]:
    """The folders among these that can be written to at all, without those inside of another."""
    folders = [Path(path) for path in paths if os.path.isdir(path) and not os.statvfs(path).f_flag & os.ST_RDONLY]
    return [str(folder) for folder in folders if not any(other in folder.parents for other in folders)]


def lock(writable: list[str], limits: Limits) -> list[str]:
    """Called by the guest itself before it touches the candidate: gives up every right it does not need."""
    kinds = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NPROC, limits.threads),
    ]
    if (
        limits.device == "cpu"
    ):  # CUDA reserves far more addresses than there is memory: what is really used, the zygote watches
        kinds.append((resource.RLIMIT_DATA, limits.memory_bytes))
    for kind, value in kinds:
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    kernel_calls.drop_capabilities()
    parts = ["rlimits"]
    if ONLY_LIMITS:
        return parts
    needed = kernel_calls.NEEDED_BY_CUDA if limits.device == "cuda" else frozenset()
    walls = {"landlock": lambda: kernel_calls.landlock(writable), "seccomp": lambda: kernel_calls.seccomp(needed)}
    for name, enter in walls.items():
        try:
            enter()
            parts.append(name)
        except (OSError, KeyError):
            continue  # an older kernel or another machine: reported as missing in `parts`
    return parts


def can_own_proc() -> bool:
    """May a guest mount a /proc of its own? Not inside bubblewrap, whose own has parts that are hidden."""
    probe = os.fork()
    if probe == 0:
        try:
            kernel_calls.unshare(NAMESPACES)
            first = os.fork()
            if first == 0:
                kernel_calls.own_proc()
                os._exit(0)
            os._exit(0 if os.waitpid(first, 0)[1] == 0 else 1)
        except OSError:
            os._exit(1)
        finally:
            os._exit(1)  # never back into the zygote
    return os.waitpid(probe, 0)[1] == 0


def device_files() -> list[str]:
    """The driver's files, which are opened for writing by whoever uses a GPU."""
    found = [*Path("/dev").glob("nvidia*"), *Path("/dev/nvidia-caps").glob("*")]
    return [str(path) for path in found if path.is_char_device()]


def level(parts: list[str]) -> str:
    """The word that verdicts carry."""
    if os.environ.get("MTMC_INSIDE_BWRAP") == "1":
        return "bubblewrap"
    return "namespaces" if "namespaces" in parts and "seccomp" in parts else "rlimits"


def _redirect(folder: Path) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(folder / "stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    err = os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for source, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
        os.close(source)


def _exit_like(status: int) -> None:
    """Ends this process with a child's exit code, 128 + number for a signal, as shells do."""
    code = os.waitstatus_to_exitcode(status)
    os._exit(128 - code if code < 0 else code)
