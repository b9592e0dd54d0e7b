"""A process that is conducted: it has its arguments once it is released, stands still while its results are read, and what it
says is checked against its memory."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import torch

from mtmc.keeper.conduct import processor_ns
from mtmc.keeper.reach import stands_still
from mtmc.referee.lending import file_memory
from mtmc.rivals.baseline import Baseline
from mtmc.wire.line import Line, Message, serve

VALUES = torch.arange(1.0, 5.0)


class Played:
    """What the child does. `how` of a call: "plain", "modify" its argument, return what lies "nowhere", or speak "twice"."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.x, self.result = torch.zeros(4), torch.zeros(4)
        self.before: list[float] = []

    def handle(self, request: Message) -> Message:
        if request["op"] == "arm":
            if request["how"] == "nowhere-to-put":
                return {"places": [{"at": "here"}]}
            return {"places": [{"at": self.x.data_ptr(), "bytes": 16}]}
        if request["op"] == "wake":
            self.before = self.x.tolist()
            return {}
        return self.go(request["how"])

    def go(self, how: str) -> Message:
        self.result.copy_(self.x * 2)
        if how == "modify":
            self.x[1] += 1
        if how == "busy":
            torch.set_num_threads(1)  # threads do not survive the fork
            wide = torch.ones(700, 700)
            for _ in range(20):
                wide = wide @ wide / 700
        if how == "twice":
            self.line.send({"ns": 1, "results": {"value": None}})
        at = 1 if how == "nowhere" else self.result.data_ptr()
        form: Any = {"dtype": "float32", "shape": [4], "stride": [1], "at": at}
        if how == "hostile":
            form["shape"] = [-4]
        return {"ns": 1, "before": self.before, "results": form}


class Child(Baseline):
    """A player that may not speak before it is asked, as a candidate's process may not."""

    def unasked(self) -> Message | None:
        if self.line.complete() or select.select([self.line.incoming], [], [], 0)[0]:
            return self.end_because("tampered", "it answered before it was asked")
        return None


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    (tmp_path / "task-0").write_bytes(VALUES.numpy().tobytes())
    descriptor = os.open(tmp_path, os.O_RDONLY)
    monkeypatch.setenv("MTMC_DRAWS", str(descriptor))
    ours, theirs = socket.socketpair()
    if (pid := os.fork()) == 0:
        ours.close()
        line = Line(theirs.fileno(), theirs.fileno())
        serve(line, Played(line).handle)
        os._exit(0)
    theirs.close()
    child = Child(Line(ours.fileno(), ours.fileno()), pid)
    yield child
    child.end_because("", "")
    os.waitpid(pid, 0)
    ours.close()
    os.close(descriptor)


def played(child: Child, folder: Path, how: str = "plain", **more: Any) -> Message:
    """One call, from getting ready to the answer."""
    ready = child.conductor.ready({"arm": {"how": how}, "timeout": 20})
    if "died" in ready:
        return ready
    assert ready["busy_ms"] >= 0 and stands_still([child.number])
    request = {"go": {"how": how}, "fill": "task-0", "out": str(folder / "out"), "most_bytes": 64, "timeout": 20}
    return child.conductor.release(request | more)


def test_arguments_come_with_the_release_and_results_are_read_while_it_stands_still(
    child: Child, tmp_path: Path
) -> None:
    answer = played(child, tmp_path, stay=True)
    assert answer["reply"]["before"] == [0.0] * 4 and answer["modified"] == [] and answer["wall_ms"] > 0
    assert torch.equal(file_memory(tmp_path / "out", 16).view(torch.float32), VALUES * 2)
    assert stands_still([child.number])
    assert child.conductor.proceed() == {"ok": True}
    again = {"form": answer["reply"]["results"], "out": str(tmp_path / "out"), "most_bytes": 64, "without": [False]}
    assert child.conductor.reread(again | {"stay": True}) == {"same": True} and stands_still([child.number])
    assert child.conductor.reread(again) == {"same": True}
    with (tmp_path / "out").open("r+b") as file:
        file.write(b"else")
    assert child.conductor.reread(again | {"stay": True}) == {"same": False}
    assert child.call({"op": "wake"}, 20) == {"reply": {}, "wall_ms": ANY}, "who is refused does not stand still"


def test_calls_in_memory_that_holds_a_pattern_are_not_swept(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweeps: list[int] = []
    monkeypatch.setattr(child.conductor.device, "flush", lambda: sweeps.append(1))
    for poison, swept in ((True, 0), (False, 1)):
        child.conductor.ready({"arm": {"how": "plain", "poison": poison}, "timeout": 20})
        child.conductor.release({"go": {"how": "plain"}, "fill": "task-0", "timeout": 20})
        assert len(sweeps) == swept


def test_who_was_stopped_goes_on_though_it_is_not_seen_for_a_moment(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = [child.number]
    seen = [here, here, []]  # when it gets ready, when it is stopped, and when /proc leaves it out
    monkeypatch.setattr(child, "tree", lambda: seen.pop(0) if seen else here)
    assert played(child, tmp_path)["reply"]["before"] == [0.0] * 4


def test_where_it_works_is_seen_from_outside(child: Child, tmp_path: Path) -> None:
    answer = played(child, tmp_path, "busy", glimpses={"most": 60, "folders": ["/nowhere/"], "seconds": 0})
    assert answer["library"] > 0 and answer["own"] == 0 and answer["processor_ms"] > 0
    libraries = str(Path(torch.__file__).parent)
    assert played(child, tmp_path, "busy", glimpses={"most": 60, "folders": [libraries], "seconds": 0})["own"] > 0


def test_arguments_that_were_written_to_are_noticed(child: Child, tmp_path: Path) -> None:
    assert played(child, tmp_path, "modify")["modified"] == [0]
    places = [{"at": at, "bytes": size} for at, size in child.conductor.places]
    assert child.conductor.unlike({"places": places, "fill": "task-0"}) == {"modified": [0]}, "later, too"
    assert played(child, tmp_path)["modified"] == []
    places = [{"at": at, "bytes": size} for at, size in child.conductor.places]
    assert child.conductor.unlike({"places": places, "fill": "task-0"}) == {"modified": []}
    assert child.conductor.unlike({"places": [{"at": 64, "bytes": 16}], "fill": "task-0"}) == {"modified": [0]}


def test_it_stands_still_while_others_are_timed_and_what_it_works_counts_on(child: Child, tmp_path: Path) -> None:
    played(child, tmp_path)
    since = child.conductor.resumed_ns
    assert child.conductor.halt({"still": True}) == {"ok": True} and stands_still([child.number])
    child.conductor.halt({"still": False})
    assert child.conductor.resumed_ns == since and played(child, tmp_path)["modified"] == []


@pytest.mark.parametrize("how", ["nowhere", "hostile"])
def test_a_result_that_cannot_be_read_is_said(child: Child, tmp_path: Path, how: str) -> None:
    answer = played(child, tmp_path, how)
    assert answer["unreadable"] and "modified" not in answer
    assert played(child, tmp_path)["modified"] == []  # it went on


def test_an_answer_that_nobody_asked_for_is_refused(child: Child, tmp_path: Path) -> None:
    assert "reply" in played(child, tmp_path, "twice")
    time.sleep(0.05)
    told = child.conductor.release({"go": {"how": "plain"}, "timeout": 20})
    assert told["died"] == "tampered"


def test_arguments_without_a_place_are_refused(child: Child, tmp_path: Path) -> None:
    assert played(child, tmp_path, "nowhere-to-put")["died"] == "tampered"


def test_arguments_of_another_size_are_refused(child: Child, tmp_path: Path) -> None:
    (tmp_path / "task-0").write_bytes(bytes(20))
    assert "20" in played(child, tmp_path)["detail"]


def test_processor_time_grows_with_work_and_is_none_for_who_is_gone() -> None:
    before = processor_ns(os.getpid())
    until = time.process_time() + 0.02
    while time.process_time() < until:
        pass
    assert processor_ns(os.getpid()) - before > 10e6
    if (pid := os.fork()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    assert processor_ns(pid) == 0
