"""Somebody who shares a GPU with the process under test, and sees whose turn it is."""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

from mtmc.device.turn import GATE, ROOM

F_OFD_SETLK = 37  # fcntl(2)


class Rooms:
    """Another open file's locks, of the kind that src/base/turn.cpp uses. It stays open: when a process closes one, its turns end."""

    def __init__(self, file: Path) -> None:
        self.other = file.open("a+")

    def gets(self, how: int, byte: int) -> bool:
        try:
            self.lock(how, byte)
        except BlockingIOError:
            return False
        self.lock(fcntl.F_UNLCK, byte)
        return True

    def lock(self, how: int, byte: int) -> None:
        fcntl.fcntl(self.other, F_OFD_SETLK, struct.pack("hhqqi", how, os.SEEK_SET, byte, 1, 0))

    def state(self) -> str:
        """Of the GPU: `free`, or who is there is `alone` or `with others`. Nobody waits at the gate."""
        assert self.gets(fcntl.F_WRLCK, GATE)
        if self.gets(fcntl.F_WRLCK, ROOM):
            return "free"
        return "with others" if self.gets(fcntl.F_RDLCK, ROOM) else "alone"
