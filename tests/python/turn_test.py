"""Whoever wants the GPU alone waits for the others, and they for it; Python and C++ mean the same bytes of the file."""

import fcntl
import subprocess
import sys
import threading

import pytest
from rooms import Rooms

from mtmc.device.turn import ROOM, away, seconds_waited, shared, turn


def test_a_gpu_that_is_shared_is_used_in_turn(rooms: Rooms) -> None:
    assert shared() and rooms.state() == "free"
    with turn(alone=True):
        assert rooms.state() == "alone"
    with turn(alone=False):
        assert rooms.state() == "with others"
    assert rooms.state() == "free"


def test_within_a_turn_another_is_nothing_unless_it_wants_more(rooms: Rooms) -> None:
    with turn(alone=True):
        with turn(alone=False), turn(alone=True):
            assert rooms.state() == "alone"
        assert rooms.state() == "alone"
    with turn(alone=False):
        with turn(alone=False):
            assert rooms.state() == "with others"
        with turn(alone=True):
            assert rooms.state() == "alone"
        assert rooms.state() == "with others"
    assert rooms.state() == "free"


def test_who_goes_away_leaves_the_gpu_to_others_and_comes_back(rooms: Rooms) -> None:
    with away():
        assert rooms.state() == "free"
    with turn(alone=False):
        with away():
            assert rooms.state() == "free"
            with turn(alone=True):
                assert rooms.state() == "alone"
            assert rooms.state() == "free"
        assert rooms.state() == "with others"


def test_a_turn_ends_with_what_fails_in_it(rooms: Rooms) -> None:
    with pytest.raises(ValueError, match="inside"), turn(alone=False), turn(alone=True):
        raise ValueError("inside")
    assert rooms.state() == "free"


def test_a_turn_ends_with_its_process(rooms: Rooms) -> None:
    code = "import time\nfrom mtmc.device.turn import turn\nwith turn(alone=True):\n    print(1, flush=True)\n    time.sleep(60)\n"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"1\n"
        assert rooms.state() == "alone"
        other.kill()
    assert rooms.state() == "free"


def test_nobody_waits_where_nobody_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MTMC_TURN", raising=False)
    with turn(alone=False), away(), turn(alone=True):
        assert not shared()


def test_says_how_long_it_waited(rooms: Rooms) -> None:
    before = seconds_waited()
    rooms.lock(fcntl.F_WRLCK, ROOM)
    leaves = threading.Timer(0.2, rooms.lock, (fcntl.F_UNLCK, ROOM))
    leaves.start()
    with turn(alone=True):
        assert seconds_waited() - before > 0.1
    leaves.join()
