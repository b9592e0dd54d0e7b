"""Processes that compile: their answers come back, one that dies is replaced, and none outlives who asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mtmc.tune.builders import BuildError, Builders


@pytest.fixture
def pool() -> Iterator[Builders]:
    pool = Builders(2, ["math"])
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


ASKS = """
import os, time
from mtmc.tune.builders import Builders
pool = Builders(2, [])
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
