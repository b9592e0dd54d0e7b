"""Guests that stand by: they warm up, answer requests, stand still, and end when they take too much."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mtmc.keeper.processes import kill_tree
from mtmc.keeper.sandbox import Guest, start_guest
from mtmc.keeper.standby import MOST_DONE, Standby
from mtmc.wire.line import Line, Message, serve

LIMITS = {"memory_bytes": 1 << 40, "threads": 512, "processes": 8}


def answer(request: Message) -> Message:
    """What the guests of these tests do."""
    if request["op"] == "say":
        return request["reply"]
    if request["op"] == "sleep":
        time.sleep(60)
    if request["op"] == "fork":
        for _ in range(20):
            if os.fork() == 0:
                time.sleep(60)
    if request["op"] == "write":
        Path(request["file"]).write_text("written")
    if request["op"] == "end":
        os._exit(1)
    return {}


def guest_main(line: Line) -> None:
    serve(line, answer)


class House:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[Guest] = []
        self.ended: list[Guest] = []
        self.standby = Standby(self.start, self.end)

    def start(self, _: Message) -> Guest:
        foreign = [guest.line.incoming for guest in self.standby.guests()]
        self.started.append(start_guest(guest_main, self.folder, foreign, [str(self.folder)]))
        return self.started[-1]

    def end(self, guest: Guest) -> None:
        kill_tree(guest.init)
        kill_tree(guest.keeper)
        os.waitpid(guest.keeper, 0)
        self.ended.append(guest)

    def prepare(self, room: str, *requests: Message) -> None:
        self.standby.prepare({"folder": room, "limits": LIMITS, "requests": list(requests)})


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    for guest in house.standby.guests():
        house.end(guest)


def state_of(guest: Guest) -> str:
    return Path(f"/proc/{guest.guest}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for_state(guest: Guest, states: str) -> bool:
    until = time.monotonic() + 10
    while state_of(guest) not in states and time.monotonic() < until:
        time.sleep(0.01)
    return state_of(guest) in states


def watched_until_one_ends(house: House) -> bool:
    until = time.monotonic() + 20
    while not house.ended and time.monotonic() < until:
        house.standby.watch()
        time.sleep(0.02)
    return bool(house.ended)


def test_a_spare_is_taken(house: House) -> None:
    house.standby.add_spare({"folder": "a"})
    spare = house.standby.take_spare("a")
    assert spare is house.started[0] and spare.line.receive() == {}
    assert house.standby.take_spare("a") is None
    house.end(spare)


def test_a_worker_ends_when_all_is_answered(house: House, tmp_path: Path) -> None:
    house.standby.add_spare({"folder": "a"})
    house.prepare("a", {"op": "hello"}, {"op": "write", "file": str(tmp_path / "file")})
    assert len(house.started) == 1, "the spare works"
    house.standby.leave("a", 20)
    assert (tmp_path / "file").read_text() == "written"
    assert house.ended == house.started and not house.standby.guests()


def test_a_worker_that_is_done_can_be_taken_over(house: House) -> None:
    house.prepare("a", {"op": "hello"}, {"op": "say", "reply": {"last": 1}})
    worker = house.standby.adopt("a", 60)
    assert worker is not None and worker.replies == [{}, {}, {"last": 1}] and not house.standby.guests()
    worker.guest.line.send({"op": "say", "reply": {"goes": "on"}})
    assert worker.guest.line.receive() == {"goes": "on"}
    assert house.standby.adopt("a", 60) is None
    house.end(worker.guest)


def test_whoever_failed_or_is_not_done_is_not_taken_over(house: House) -> None:
    house.prepare("a", {"op": "say", "reply": {"fail": "raised"}}, {"op": "hello"})
    assert house.standby.adopt("a", 60) is None
    house.prepare("b", {"op": "sleep"})
    assert house.standby.adopt("b", 0.2) is None
    house.prepare("c", {"op": "end"})
    assert house.standby.adopt("c", 60) is None
    assert house.ended == house.started


def test_few_wait_when_they_are_done(house: House) -> None:
    for room in range(MOST_DONE + 1):
        house.prepare(str(room), {"op": "hello"})
    assert watched_until_one_ends(house)
    assert house.ended == house.started[:1], "the oldest"
    assert house.standby.adopt("0", 60) is None
    assert len(house.standby.guests()) == MOST_DONE


def test_nobody_waits_longer_than_allowed(house: House) -> None:
    house.prepare("a", {"op": "sleep"})
    start = time.monotonic()
    house.standby.leave("a", 0.2)
    assert time.monotonic() - start < 10 and len(house.ended) == 1
    house.prepare("b", {"op": "end"})
    house.standby.leave("b", 60)
    assert time.monotonic() - start < 20, "the dead answer nothing"
    house.standby.leave("c", 60)  # who was never there


def test_they_stand_still(house: House) -> None:
    house.prepare("a", {"op": "sleep"})
    house.standby.add_spare({"folder": "b"})
    house.standby.signal(signal.SIGSTOP)
    assert all(wait_for_state(guest, "T") for guest in house.started)
    house.standby.signal(signal.SIGCONT)
    assert all(wait_for_state(guest, "SR") for guest in house.started)


def test_whoever_takes_too_much_is_ended(house: House) -> None:
    house.prepare("a", {"op": "fork"}, {"op": "sleep"})
    house.prepare("b", {"op": "sleep"})
    assert watched_until_one_ends(house)
    assert house.ended == house.started[:1]
