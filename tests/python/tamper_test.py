"""What a candidate replaced is named: functions since the guest began, flags since right before the candidate came."""

from __future__ import annotations

import gc
import math
import os
import statistics
import sys
from pathlib import Path

import pytest
import torch

from mtmc.device import random_state
from mtmc.guest import runner
from mtmc.guest.tamper import Snapshot


def test_nothing_changes_by_itself() -> None:
    assert Snapshot().changes() == []


def test_whatever_is_replaced_or_removed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = Snapshot().changes
    monkeypatch.setattr(math, "sqrt", lambda x: x)
    monkeypatch.setattr(torch.nn.Module, "train", lambda self, mode=True: self)
    monkeypatch.setattr(runner.Runner, "on_go", lambda self, _: {"ns": 1})
    monkeypatch.setattr(random_state, "seed_all", random_state.random_state)
    monkeypatch.delattr(statistics, "median")
    found = changes()
    assert sorted(found) == [
        "Module.train",
        "Runner.on_go",
        "math.sqrt",
        "mtmc.device.random_state.seed_all",
        "statistics.median",
    ]


def test_additions_and_data_are_nobodys_concern(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = Snapshot().changes
    monkeypatch.setattr(math, "square", lambda x: x * x, raising=False)
    monkeypatch.setattr(math, "pi", 3)
    monkeypatch.setenv("MTMC_TEST", "1")
    assert changes() == [] and os.environ["MTMC_TEST"] == "1"


def test_flags_count_from_the_beginning_on() -> None:
    snapshot = Snapshot()
    with torch.no_grad():
        assert snapshot.changes() == ["gradients"]
        snapshot.begin()
        assert snapshot.changes() == []
    assert snapshot.changes() == ["gradients"]


def test_what_would_go_on_in_the_whole_program_is_a_flag() -> None:
    changes = Snapshot().changes
    with torch.autocast("cpu"):
        assert changes() == ["autocast"]
    gc.disable()
    try:
        assert changes() == ["garbage collection"]
    finally:
        gc.enable()
    assert changes() == []


def test_what_all_code_of_a_program_goes_by_is_a_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot, limit, interval, mask = Snapshot(), sys.getrecursionlimit(), sys.getswitchinterval(), os.umask(0o022)
    os.umask(mask)
    monkeypatch.chdir(tmp_path)
    try:
        sys.setrecursionlimit(limit + 1)  # who compiles may need more
        assert snapshot.changes() == ["current folder"]
        sys.setrecursionlimit(limit - 1)
        sys.setswitchinterval(1)
        os.umask(0o777)
        found = snapshot.changes()
    finally:
        sys.setrecursionlimit(limit)
        sys.setswitchinterval(interval)
        os.umask(mask)
    assert set(found) == {"current folder", "mask of new files", "recursion limit", "switches of threads"}


def test_modes_of_the_whole_program_are_flags() -> None:
    changes, threads = Snapshot().changes, torch.get_num_threads()
    hook = torch.nn.modules.module.register_module_forward_hook(lambda *_: None)
    torch.set_num_threads(threads + 1)
    flushes = torch.set_flush_denormal(True)
    try:
        found = changes()
    finally:
        hook.remove()
        torch.set_num_threads(threads)
        torch.set_flush_denormal(False)
    modes = ["rounding or denormal numbers"] if flushes else []  # not every processor can
    assert found == [*modes, "number of threads", "global hooks of modules"] and changes() == []
