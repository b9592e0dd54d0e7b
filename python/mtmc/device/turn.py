"""Turns on a GPU that several searches share, as src/base/turn.cpp has them: through the gate (byte 0 of a file) into the room
(byte 1). The file is MTMC_TURN; where there is none nobody waits for anybody."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

GATE, ROOM = 0, 1
_waited = 0.0


def seconds_waited() -> float:
    """That this process has waited for its turns."""
    return _waited


def shared() -> bool:
    """Is the GPU shared with other searches?"""
    return bool(os.environ.get("MTMC_TURN"))


@contextmanager
def turn(alone: bool) -> Iterator[None]:
    """The GPU to ourselves, or together with others who do not want it to themselves. No turn within a turn."""
    if not shared():
        yield
        return
    global _waited
    since = time.monotonic()
    with open(os.environ["MTMC_TURN"], "a+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 1, GATE)
        fcntl.lockf(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, 1, ROOM)
        fcntl.lockf(file, fcntl.LOCK_UN, 1, GATE)
        _waited += time.monotonic() - since
        yield
