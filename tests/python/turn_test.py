"""Whoever wants the GPU alone waits for the others, and they for it; Python and C++ mean the same bytes of the file."""

import fcntl
import os
import struct
import threading
from pathlib import Path

import pytest

from mtmc.device.turn import GATE, ROOM, seconds_waited, shared, turn

F_OFD_SETLK = 37  # fcntl(2)


def test_a_gpu_that_is_shared_is_used_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "turn"
    monkeypatch.setenv("MTMC_TURN", str(file))
    assert shared()
    with file.open("a+") as other:

        def gets(how: int, byte: int) -> bool:
            """Another open file's lock, of the kind that src/base/turn.cpp uses."""
            try:
                fcntl.fcntl(other, F_OFD_SETLK, struct.pack("hhqqi", how, os.SEEK_SET, byte, 1, 0))
            except BlockingIOError:
                return False
            fcntl.fcntl(other, F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_UNLCK, os.SEEK_SET, byte, 1, 0))
            return True

        with turn(alone=True):
            assert not gets(fcntl.F_RDLCK, ROOM) and gets(fcntl.F_WRLCK, GATE)
        with turn(alone=False):
            assert gets(fcntl.F_RDLCK, ROOM) and not gets(fcntl.F_WRLCK, ROOM)
        assert gets(fcntl.F_WRLCK, ROOM)


def test_nobody_waits_where_nobody_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MTMC_TURN", raising=False)
    with turn(alone=True), turn(alone=True):
        assert not shared()


def test_says_how_long_it_waited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "turn"
    monkeypatch.setenv("MTMC_TURN", str(file))
    before = seconds_waited()
    with file.open("a+") as other:
        fcntl.fcntl(other, F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, ROOM, 1, 0))
        leaves = threading.Timer(0.2, other.close)
        leaves.start()
        with turn(alone=True):
            assert seconds_waited() - before > 0.1
        leaves.join()
