"""Counting a process tree that may grow faster than it can be counted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from mtmc.keeper.processes import doing, process_tree, usage
from mtmc.keeper.reach import files_at_work, stands_still


@pytest.fixture
def sleepers() -> Iterator[list[int]]:
    started = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) for _ in range(5)]
    yield [process.pid for process in started]
    for process in started:
        process.kill()
        process.wait(timeout=20)


def test_no_more_processes_are_looked_at_than_asked_for(sleepers: list[int]) -> None:
    assert set(sleepers) <= set(process_tree(os.getpid()))
    assert len(process_tree(os.getpid(), most=3)) == 3
    first = process_tree(os.getpid())[1]  # a sleeper, or what a test before this one has left
    assert usage(os.getpid(), without=first, most=2).processes == 2
    assert usage(os.getpid()).processes >= 5


def test_what_a_process_does_that_does_not_answer(sleepers: list[int]) -> None:
    os.kill(sleepers[0], signal.SIGSTOP)
    while not stands_still([sleepers[0]]):
        pass
    assert doing(sleepers[0]).startswith("it stands still")
    os.kill(sleepers[0], signal.SIGCONT)
    assert doing(1 << 30) == "it has ended"


def test_the_code_that_a_process_is_in_the_middle_of_has_a_file() -> None:
    code = "print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as busy:
        try:
            assert busy.stdout is not None and busy.stdout.readline()
            time.sleep(0.05)  # the line is written, and it turns
            os.kill(busy.pid, signal.SIGSTOP)
            while not stands_still([busy.pid]):
                pass
            found = files_at_work(busy.pid)
        finally:
            busy.kill()
    assert any("python" in name for name in found)
    assert files_at_work(1 << 30) == []
