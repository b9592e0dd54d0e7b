"""What a process does that does not answer, in words. It is ended afterwards: it need not go on."""

from __future__ import annotations

import os
import re
import signal
import stat
import time

from mtmc.keeper.processes import doing
from mtmc.keeper.reach import files_at_work, stands_still
from mtmc.keeper.starter import send

ASKS = signal.SIGUSR2  # a guest's answer is the lines of Python that it is in (faulthandler), on its standard error
ANSWER_SECONDS, STOP_SECONDS = 0.1, 0.1  # until the lines are there; until it stands still
MOST_BYTES = 1 << 16  # of its standard error, the last ones
FRAME = re.compile(r'  File "[^"]*?([^"/]{1,80})", line (\d+) in ([\w<>]{1,80})')


def told_of(pid: int) -> str:
    """The state of its first thread, the files whose machine code its threads are in, and the lines of Python. What the process
    says of its lines is a hint, like all that it says."""
    what, lines = doing(pid), _lines(pid)
    send([pid], signal.SIGSTOP)
    until = time.perf_counter() + STOP_SECONDS
    while not stands_still([pid]) and time.perf_counter() < until:
        time.sleep(0.001)
    where = ", ".join(files_at_work(pid)[:3])
    return what + (f" in {where}" if where else "") + (f", at {lines}" if lines else "")


def _lines(pid: int) -> str:
    """Where it is, and the line of forward that led there; empty when it does not say."""
    before = _errors(pid)
    send([pid], ASKS)
    until = time.perf_counter() + ANSWER_SECONDS
    while (now := _errors(pid)) == before and time.perf_counter() < until:
        time.sleep(0.005)
    time.sleep(0.005)  # it writes line by line
    told = _errors(pid).rpartition("Current thread ")[2] if now != before else ""
    frames = FRAME.findall(told)
    chosen = frames[:1] + [frame for frame in frames[1:] if frame[2] == "forward"][:1]
    return ", called at ".join(f"{file}:{line} ({name})" for file, line, name in chosen)


def _errors(pid: int) -> str:
    """The end of what it has written to its standard error, where that is a file."""
    try:
        descriptor = os.open(f"/proc/{pid}/fd/2", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return ""
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            return ""
        return os.pread(descriptor, MOST_BYTES, max(0, about.st_size - MOST_BYTES)).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
