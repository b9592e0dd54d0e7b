"""Turns on a GPU that several searches share, as src/base/turn.cpp has them: through the gate (byte 0 of a file) into the room
(byte 1). The file is MTMC_TURN; where there is none nobody waits for anybody."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

GATE, ROOM = 0, 1
_waits: list[tuple[float, float]] = []


@dataclass(frozen=True)
class _Held:
    """A turn that this process has. Its end is the file's: all locks of a process on a file end when it closes any one of its."""

    alone: bool
    file: IO[str]


_held: _Held | None = None


def seconds_waited() -> float:
    """That this process has waited for its turns."""
    return sum(end - begin for begin, end in _waits)


def waits() -> list[tuple[float, float]]:
    """When it began to wait for each of its turns and had it, on the monotonic clock, which all processes share."""
    return list(_waits)


def shared() -> bool:
    """Is the GPU shared with other searches?"""
    return bool(os.environ.get("MTMC_TURN"))


@contextmanager
def turn(alone: bool) -> Iterator[None]:
    """The GPU to ourselves, or together with others who do not want it to themselves. Within a turn another is nothing; but who is
    there with others and wants to be alone gives that turn back, and takes it again afterwards."""
    if not shared() or (_held is not None and (_held.alone or not alone)):
        yield
        return
    with away():
        _take(alone)
        try:
            yield
        finally:
            _give_back()


@contextmanager
def away() -> Iterator[None]:
    """Without the turn that we are in, if any: others have the GPU while something takes long that does not need it."""
    held = _held
    if held is None:
        yield
        return
    _give_back()
    try:
        yield
    finally:
        _take(held.alone)


def _take(alone: bool) -> None:
    global _held
    since = time.monotonic()
    file = open(os.environ["MTMC_TURN"], "a+")  # noqa: SIM115 (until it is given back)
    fcntl.lockf(file, fcntl.LOCK_EX, 1, GATE)
    fcntl.lockf(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, 1, ROOM)
    fcntl.lockf(file, fcntl.LOCK_UN, 1, GATE)
    _waits.append((since, time.monotonic()))
    _held = _Held(alone, file)


def _give_back() -> None:
    global _held
    assert _held is not None
    _held.file.close()
    _held = None
