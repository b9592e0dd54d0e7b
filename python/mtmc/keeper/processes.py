"""What a process and all its descendants use, read from /proc by somebody else than themselves."""

from __future__ import annotations

import math
import os
import signal
from dataclasses import dataclass

PIECE = 1 << 16  # bytes that are read at once
MANY = 64  # processes of a machine, its own and others'


@dataclass(frozen=True)
class Usage:
    """Sums over a process tree; `cpu_ns` counts the time that threads which still live have run."""

    processes: int
    threads: int
    memory_bytes: int
    cpu_ns: int


def process_tree(root: int, most: float = math.inf) -> list[int]:
    """The root and its descendants, parents first; processes that end meanwhile are left out. Looks no further when it
    has found `most`: a fork bomb grows faster than it can be counted."""
    found, waiting, families = [], [root], _families()
    while waiting and len(found) < most:
        pid = waiting.pop(0)
        found.append(pid)
        waiting += _children(pid) if families is None else families.get(pid, [])
    return found


def _families() -> dict[int, list[int]] | None:
    """The children of every process, parents first; None on a machine of many processes. A sandbox has few, of many threads each:
    to ask every thread for its children takes milliseconds there."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if len(pids) > MANY:
        return None
    families: dict[int, list[int]] = {}
    for pid in pids:
        if words := read_some(f"/proc/{pid}/stat").rpartition(b")")[2].split():
            families.setdefault(int(words[1]), []).append(pid)
    return families


def _children(pid: int) -> list[int]:
    return [int(child) for thread in _threads(pid) for child in _read(f"/proc/{pid}/task/{thread}/children").split()]


def read_some(path: str) -> bytes:
    """The beginning of a short file of /proc; empty when its process has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def usage(root: int, without: int = 0, most: float = math.inf) -> Usage:
    """What the descendants of `root` use now, or the first `most` of them; it and `without` do not count."""
    pids = [pid for pid in process_tree(root, most + 2)[1:] if pid != without]
    threads = [(pid, thread) for pid in pids for thread in _threads(pid)]
    return Usage(
        processes=len(pids),
        threads=len(threads),
        memory_bytes=sum(_memory(pid) for pid in pids),
        cpu_ns=sum(int((_read(f"/proc/{pid}/task/{thread}/schedstat").split() or ["0"])[0]) for pid, thread in threads),
    )


def doing(pid: int) -> str:
    """What a process that does not answer does, as far as the system says: the state of its first thread, and where it waits."""
    state = read_some(f"/proc/{pid}/stat").rpartition(b")")[2][1:2].decode()
    waits = _read(f"/proc/{pid}/wchan").strip("0")
    word = {"R": "it runs", "S": "it waits", "D": "it waits for the system", "T": "it stands still"}
    return word.get(state, "it has ended") + (f" in {waits}" if waits else "")


def unshared_memory(root: int, most: float) -> float:
    """As `memory_bytes`, but pages that processes share count once: slower to find out, milliseconds for each. Infinite when there
    are more than `most` descendants by then: who forks on and on forks faster than that."""
    total = 0
    for pid in process_tree(root)[1:]:
        if len(process_tree(root, most + 2)) > most + 1:
            return math.inf
        fields = dict(line.split(":", 1) for line in _read(f"/proc/{pid}/smaps_rollup").splitlines() if ": " in line)
        total += sum(int(fields[name].split()[0]) * 1024 for name in ("Pss_Anon", "Pss_Shmem") if name in fields)
    return total


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []  # the process has ended


def _memory(pid: int) -> int:
    """Resident bytes that no file stands behind."""
    fields = dict(line.split(":", 1) for line in _read(f"/proc/{pid}/status").splitlines() if ":" in line)
    return sum(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem") if name in fields)


def kill_descendants(root: int) -> None:
    """Ends all that descends from a process, forkers included: they are stopped before they are killed."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for _ in range(20):
            seen = process_tree(root)[1:]
            for pid in seen:
                _signal(pid, number)
            if process_tree(root)[1:] == seen:
                break


def signal_descendants(root: int, without: int, number: int) -> None:
    """Sends a signal to all that descends from a process but for `without`, those forked meanwhile included."""
    for _ in range(20):
        seen = process_tree(root)[1:]
        for pid in seen:
            if pid != without:
                _signal(pid, number)
        if process_tree(root)[1:] == seen:
            break


def kill_tree(root: int) -> None:
    """Ends a process and all that descends from it."""
    kill_descendants(root)
    _signal(root, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it was faster


def _read(path: str) -> str:
    """All of a file of /proc; empty when its process has ended. As Python's own files are opened it takes three times as long."""
    parts = []
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        while part := os.read(descriptor, PIECE):
            parts.append(part)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return b"".join(parts).decode(errors="replace")
