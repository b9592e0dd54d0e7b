"""The tuner orders versions of a kernel, and says why a version has no time."""

import runpy
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.tune import tuner
from mtmc.tune.builders import Builders

VERSION = """
import torch
from mtmc.tune.tuner import time

class ModelNew(torch.nn.Module):
    def forward(self, x, index):
        {body}
        return x[index.long()]
"""


def measured(tmp_path: Path, bodies: list[str], seconds: float = 0.5) -> list[dict[str, Any]]:
    paths = []
    for number, body in enumerate(bodies):
        path = tmp_path / f"version{number}.py"
        path.write_text(VERSION.format(body=body))
        paths.append(str(path))
    return tuner.measure({"modules": paths, "inputs": ["f32[4,8]", "i64[3]"], "seconds": seconds})


class Clock:
    """Stands still but for what sleeps: a busy machine does not change the order of versions."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_orders_versions_and_drops_the_hopeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuner, "time", Clock())
    slow, fast, hopeless = measured(tmp_path, ["time.sleep(0.004)", "time.sleep(0.002)", "time.sleep(0.03)"])
    assert [fast["ms"], slow["ms"]] == pytest.approx([2, 4])
    assert hopeless["note"].startswith("hopeless") and "ms" not in hopeless


def test_a_version_that_fails_says_why(tmp_path: Path) -> None:
    broken, raises, right = measured(tmp_path, ["x = = 1", "raise ValueError('too big')", "pass"])
    assert broken["note"].startswith("SyntaxError")
    assert raises["note"] == "ValueError: too big"
    assert right["ms"] > 0


def test_integers_are_valid_as_any_index() -> None:
    assert set(tuner.random_tensor("i64[100]").tolist()) == {0, 1}
    assert tuner.random_tensor("b1[3]").dtype == torch.bool
    assert tuner.random_tensor("f16[2,2]").dtype == torch.float16


def test_a_text_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(tuner, "compile_version", lambda path, _: compiled.append(path) or path)
    monkeypatch.setattr(tuner, "COMPILING", {})
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(tuner, "builders", lambda: pool)
        paths = []
        for number, text in enumerate(["x = 1", "x = 2", "x = 1"]):
            paths.append(str(tmp_path / f"{number}.py"))
            Path(paths[-1]).write_text(text)
        first = tuner.compile_all({"modules": paths[:2], "inputs": ["f32[4]"], "prepare": True})
        again = tuner.compile_all({"modules": paths[1:], "inputs": ["f32[4]"]})
        other = tuner.compile_all({"modules": paths[:1], "inputs": ["f32[8]"]})
    assert again == first[::-1]
    assert other[0] not in first
    assert compiled == [*paths[:2], paths[0]]


@pytest.mark.parametrize(("binaries", "versions"), [("", 2), ("the same", 1)])
def test_only_known_binaries_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binaries: str, versions: int
) -> None:
    monkeypatch.setattr(tuner, "compile_version", lambda *_: binaries)
    monkeypatch.setattr(tuner, "COMPILING", {})
    paths = []
    for number in range(2):
        paths.append(str(tmp_path / f"{number}.py"))
        Path(paths[-1]).write_text(VERSION.format(body=f"y = {number}"))
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(tuner, "builders", lambda: pool)
        inputs = ["f32[4,8]", "i64[3]"]
        tensors = [tuner.random_tensor(text) for text in inputs]
        found = tuner.first_samples({"modules": paths, "inputs": inputs}, tensors, device_named("cpu"), 30)
    assert len(set(map(id, found))) == versions


def test_what_waits_can_be_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def compile_slowly(path: str, _: list[str]) -> str:
        begun.set()
        goes_on.wait()
        return path

    monkeypatch.setattr(tuner, "compile_version", compile_slowly)
    monkeypatch.setattr(tuner, "COMPILING", {})
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(tuner, "builders", lambda: pool)
        paths = [str(tmp_path / f"{number}.py") for number in range(2)]
        for path in paths:
            Path(path).write_text(path)
        request = {"modules": paths, "inputs": ["f32[4]"]}
        running, waiting = tuner.compile_all(request)
        begun.wait()
        tuner.stop_preparing()
        assert waiting.cancelled() and not running.cancelled()
        again = tuner.compile_all(request)
        goes_on.set()
        assert again[0] is running and [future.result() for future in again] == paths


def test_processes_that_compile_leave_room_for_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuner, "cores", lambda: 16)
    assert [tuner.processes_beside(size << 30, 80 << 30) for size in (0, 7, 100)] == [14, 4, 2]
    assert tuner.processes_beside(7 << 30, 140 << 30) == 8


def test_what_does_not_compile_in_time_keeps_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never, slow = str(tmp_path / "never.py"), tmp_path / "slow.py"
    slow.write_text("import time; time.sleep(1000)")
    Path(never).write_text("")
    monkeypatch.setattr(tuner, "compile_version", runpy.run_path)
    monkeypatch.setattr(tuner, "COMPILING", {})
    pool = Builders([])
    monkeypatch.setattr(tuner, "builders", lambda: pool)
    pool.fit(1)
    request = {"modules": [str(slow), never], "inputs": []}
    notes = [version.note for version in tuner.first_samples(request, [], device_named("cpu"), 1)]
    assert notes == [tuner.NOT_IN_TIME] * 2
    assert not tuner.COMPILING, "whoever has longer builds them again"
    assert pool.submit(abs, -1).result() == 1
    pool.shutdown()
