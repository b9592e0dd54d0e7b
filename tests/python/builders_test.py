"""Processes that compile: their answers come back, one that dies is replaced, and none outlives who asks."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mtmc.tune.builders import BuildError, Builders

NAP = "(__import__('time').sleep(0.2), __import__('os').getpid())[1]"


@pytest.fixture
def pool() -> Iterator[Builders]:
    pool = Builders(["math"])
    pool.fit(2)
    yield pool
    pool.shutdown()


def test_answers_and_errors_come_back(pool: Builders) -> None:
    assert [future.result() for future in [pool.submit(abs, -n) for n in range(5)]] == list(range(5))
    with pytest.raises(BuildError, match="^ValueError: invalid literal"):
        pool.submit(int, "x").result()
    assert os.getpid() not in {pool.submit(os.getpid).result() for _ in range(5)}


def test_one_that_dies_is_replaced(pool: Builders) -> None:
    deaths = [pool.submit(os._exit, 1) for _ in range(3)]
    for death in deaths:
        with pytest.raises(BuildError, match="has died"):
            death.result()
    assert pool.submit(abs, -1).result() == 1


def test_there_are_as_many_as_fit(pool: Builders) -> None:
    """More come, the rest stays; too many end once they are done with what they are at, and whoever waits is served."""
    two = {future.result() for future in [pool.submit(eval, NAP) for _ in range(2)]}
    pool.fit(5)
    pids = {future.result() for future in [pool.submit(eval, NAP) for _ in range(20)]}
    assert len(pids) == 5 and two < pids
    pool.fit(1)
    left = {pool.submit(eval, NAP).result() for _ in range(4)}
    assert len(left) == 1 and left <= pids
    until = time.monotonic() + 60
    while sum(map(runs, pids)) > 1 and time.monotonic() < until:
        time.sleep(0.02)
    assert set(filter(runs, pids)) == left


def test_each_does_first_what_is_asked_for(tmp_path: Path) -> None:
    trace = "__import__('pathlib').Path({!r}, str(__import__('os').getpid())).touch()"
    pool = Builders([], functools.partial(eval, trace.format(str(tmp_path))))
    pool.fit(2)
    assert (tmp_path / str(pool.submit(os.getpid).result())).exists()
    pool.shutdown()


def test_what_takes_too_long_can_be_ended(pool: Builders) -> None:
    pool.fit(1)
    slow, waits = pool.submit(time.sleep, 1000), pool.submit(abs, -1)
    while not slow.running():
        time.sleep(0.01)
    until = time.monotonic() + 60
    while not slow.done() and time.monotonic() < until:  # it may not have been handed over yet
        pool.end(slow)
        time.sleep(0.01)
    with pytest.raises(BuildError, match="has died"):
        slow.result()
    assert waits.result() == 1


ASKS = """
import os, time
from mtmc.tune.builders import Builders
pool = Builders([])
pool.fit(2)
print(pool.submit(os.getppid).result(), pool.submit(os.getpid).result(), flush=True)
pool.submit(time.sleep, 1000), pool.submit(time.sleep, 1000)
time.sleep(1000)
"""


def runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return ") Z " not in stat.read_text()
    except OSError:
        return False


def test_they_die_with_who_asks() -> None:
    asking = subprocess.Popen([sys.executable, "-c", ASKS], stdout=subprocess.PIPE, text=True)
    assert asking.stdout is not None
    started = [int(pid) for pid in asking.stdout.readline().split()]
    assert all(map(runs, started))
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    until = time.monotonic() + 60
    while any(map(runs, started)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(map(runs, started))
