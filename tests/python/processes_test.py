"""Counting a process tree that may grow faster than it can be counted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from mtmc.keeper.processes import process_tree, usage


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
