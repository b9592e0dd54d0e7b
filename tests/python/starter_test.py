"""Stopped processes go on, with every core that they may use; who waits for a child that is stopped stands still."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from mtmc.keeper.processes import process_tree
from mtmc.keeper.reach import stands_still
from mtmc.keeper.starter import Starter, running

SPINS = "\nwhile True:\n    pass"
# A copy of the process that sleeps, for which the first one waits as after vfork.
WAITS = """
import ctypes, os, platform, time
CLONE_VFORK, SIGCHLD = 0x4000, 17
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
if ctypes.CDLL(None).syscall(number, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0:
    time.sleep(60)
"""
Started = Callable[[str], int]


@pytest.fixture
def started() -> Iterator[Started]:
    processes = []

    def start(code: str) -> int:
        processes.append(subprocess.Popen([sys.executable, "-c", code]))
        return processes[-1].pid

    yield start
    for process in processes:
        for pid in process_tree(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait(timeout=20)


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_stopped_processes_go_on_with_every_core(started: Started) -> None:
    pids = [started(SPINS), started("import time; time.sleep(60)")]
    cores = os.sched_getaffinity(pids[0])
    starter = Starter([])
    starter.settle()  # nothing to wait for
    for _ in range(3):
        wait_until(lambda: running(pids[0])[0][1] > 2_000_000)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: stands_still(pids))
        start = starter.arrange(pids)
        assert len(os.sched_getaffinity(pids[0])) == 1  # where it begins
        assert stands_still(pids)
        ran = running(pids[0])[0][1]
        start()
        starter.settle()
        wait_until(lambda: os.sched_getaffinity(pids[0]) == cores)
        wait_until(lambda ran=ran: running(pids[0])[0][1] > ran + 2_000_000)  # type: ignore[misc]
        assert not stands_still([pids[1]])


def test_a_process_that_has_ended_stops_nobody(started: Started) -> None:
    pid = started("")
    wait_until(lambda: stands_still([pid]))  # at its end
    starter = Starter([])
    starter.arrange([pid, 1 << 22])()
    starter.settle()


def test_who_waits_for_a_stopped_child_stands_still(started: Started) -> None:
    pid = started(WAITS)
    wait_until(lambda: len(process_tree(pid)) == 2)
    tree = process_tree(pid)
    for one in tree:
        os.kill(one, signal.SIGSTOP)
    wait_until(lambda: stands_still(tree))
    os.kill(tree[1], signal.SIGCONT)
    wait_until(lambda: not stands_still(tree))
