"""Into another process's memory while it stands still: what is put there was not there before, what is read there is not told
by it. Linux: process_vm_readv(2) and process_vm_writev(2); allowed for what descends from us, walls and all.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import platform
import re
from collections import Counter
from collections.abc import Iterable

import torch

from mtmc.keeper.processes import read_some

LIBC = ctypes.CDLL(None, use_errno=True)
PIECE = 1 << 30  # bytes of one call: the kernel takes 2 GiB at most


class ReachError(Exception):
    """The memory is not there, or may not be looked at."""


class _Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def _transfer(call: str, pid: int, ours: int, theirs: int, size: int) -> None:
    done = 0
    function = getattr(LIBC, call)
    function.restype = ctypes.c_ssize_t
    while done < size:
        piece = min(PIECE, size - done)
        mine, other = _Span(ours + done, piece), _Span(theirs + done, piece)
        moved = function(pid, ctypes.byref(mine), 1, ctypes.byref(other), 1, 0)
        if moved <= 0:
            raise ReachError(f"{size} bytes at {theirs:#x}: {os.strerror(ctypes.get_errno())}")
        done += moved


def put(pid: int, address: int, source: torch.Tensor) -> None:
    """Writes the bytes of a contiguous tensor of ours."""
    _transfer("process_vm_writev", pid, source.data_ptr(), address, source.numel() * source.element_size())


def take(pid: int, address: int, target: torch.Tensor) -> None:
    """Reads into a contiguous tensor of ours."""
    _transfer("process_vm_readv", pid, target.data_ptr(), address, target.numel() * target.element_size())


def mapped(descriptor: int, size: int, writes: bool = False) -> torch.Tensor:
    """The bytes of an open file as a tensor; it keeps the mapping."""
    if not size:
        return torch.empty(0, dtype=torch.uint8)
    flags, rights = mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE
    if not writes:
        flags = mmap.MAP_PRIVATE  # writable for Python's buffers, and never written
    return torch.frombuffer(mmap.mmap(descriptor, size, flags, rights), dtype=torch.uint8)


def same(pid: int, address: int, source: torch.Tensor, scratch: torch.Tensor) -> bool:
    """Does the memory there hold these bytes? Compared piece by piece through `scratch`."""
    for part in source.split(scratch.numel()) if source.numel() else ():
        take(pid, address, scratch[: part.numel()])
        if not torch.equal(scratch[: part.numel()], part):
            return False
        address += part.numel()
    return True


def stands_still(pids: Iterable[int]) -> bool:
    """Is every thread of these processes stopped, or at its end (proc(5))? Who has called vfork(2) stops only when its child has
    run, and cannot go on before: one of these processes, which is stopped."""
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            for thread in os.listdir(f"/proc/{pid}/task"):
                state = read_some(f"/proc/{pid}/task/{thread}/stat").rpartition(b")")[2][1:2]
                if state not in b"TtZX" and not (state == b"D" and _waits_for_child(pid, thread)):
                    return False
    return True


WAITS = (b"kernel_clone", b"wait_for_vfork_done", b"_do_fork", b"do_fork")
FORKS = {"x86_64": (b"56", b"58", b"435"), "aarch64": (b"220", b"435")}  # clone, vfork, clone3


def _waits_for_child(pid: int, thread: str) -> bool:
    words = read_some(f"/proc/{pid}/task/{thread}/syscall").split()
    waits = read_some(f"/proc/{pid}/task/{thread}/wchan") in WAITS  # and is not at some other point of the call
    return waits and bool(words) and words[0] in FORKS.get(platform.machine(), ())


def at_work(pids: Iterable[int]) -> list[tuple[int, int]]:
    """Process and instruction of every thread that stands still in the middle of its work, not in a system call (proc(5))."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/syscall") as file:
                    words = file.read().split()
                if len(words) == 3 and words[0] == "-1":
                    found.append((pid, int(words[2], 16)))
    return found


# Files whose code neither is the candidate's own nor computes: the interpreter, and what threads wait in.
NEUTRAL = re.compile(r"/(lib)?(python|c|gomp|iomp|stdc\+\+|pthread|ffi|gcc_s)[\w.+-]*$|/ld-linux|lib-dynload/|^\[")


def owners(pid: int, places: list[int], folders: list[str]) -> tuple[int, int]:
    """How many of these instructions lie in code of the candidate's own (see own_code), and how many in libraries that compute."""
    with open(f"/proc/{pid}/maps") as file:
        rows = [line.split(None, 5) for line in file.read().splitlines()]
    mine = own_code(pid, folders)
    own = [place for place in places if any(start <= place < end for start, end in mine)]
    others = 0
    for row in rows:
        start, _, end = row[0].partition("-")
        if len(row) == 6 and "x" in row[1] and row[5].startswith("/") and not NEUTRAL.search(row[5]):
            others += sum(int(start, 16) <= place < int(end, 16) for place in places if place not in own)
    return len(own), others


def files_at_work(pid: int) -> list[str]:
    """The names of the files whose code the threads of a process that stands still are in the middle of, the most frequent first."""
    try:
        with open(f"/proc/{pid}/maps") as file:
            rows = [line.split(None, 5) for line in file.read().splitlines()]
        places = [place for _, place in at_work([pid])]
    except OSError:
        return []  # it has ended
    found: Counter[str] = Counter()
    for row in rows:
        start, end = (int(part, 16) for part in row[0].split("-"))
        name = os.path.basename(row[5]) if len(row) == 6 else "memory of its own"
        found[name] += sum(start <= place < end for place in places)
    return [name for name, count in found.most_common() if count]


RETURN = {"x86_64": b"\xc3", "aarch64": b"\xc0\x03\x5f\xd6"}


def own_code(pid: int, folders: list[str]) -> list[tuple[int, int]]:
    """Where the machine code lies that a process mapped from these folders, or from memory only: first and last address."""
    with open(f"/proc/{pid}/maps") as file:
        rows = [line.split(None, 5) for line in file.read().splitlines()]
    mine = [row for row in rows if len(row) == 6 and "x" in row[1] and row[5].startswith(("/memfd:", *folders))]
    return [(int(row[0].split("-")[0], 16), int(row[0].split("-")[1], 16)) for row in mine]


def erase(pid: int, code: list[tuple[int, int]]) -> None:
    """Every instruction there becomes a return. Through /proc/PID/mem, which asks for no right to write there."""
    nothing = RETURN[platform.machine()]
    descriptor = os.open(f"/proc/{pid}/mem", os.O_RDWR)
    try:
        for start, end in code:
            os.pwrite(descriptor, nothing * ((end - start) // len(nothing)), start)
    finally:
        os.close(descriptor)
