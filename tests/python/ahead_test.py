"""Triton kernels are recorded without being launched, and compiled for GPUs that are not here."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mtmc.guest import ahead
from mtmc.guest.limits import Limits

HONEST = Path(__file__).resolve().parents[1] / "honest"
pytest.importorskip("triton", reason="triton is not installed")


def model_of(name: str) -> torch.nn.Module:
    spec = importlib.util.spec_from_file_location(name, HONEST / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelNew()


def recorded_call(name: str, *arguments: torch.Tensor) -> list[tuple[Any, dict[str, Any], dict[str, Any]]]:
    model = model_of(name)
    with torch.no_grad():
        return ahead.recorded(lambda: model(*arguments))


def test_launches_are_recorded_and_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    launches = recorded_call("gpu_softmax_rows", torch.zeros(4, 100))
    assert [launch[0].fn.__name__ for launch in launches] == ["softmax_rows"]
    assert launches[0][1]["columns"] == 100 and launches[0][1]["block"] == 128
    ahead.compile_for(launches[0], 90)
    assert list(tmp_path.rglob("*.cubin"))


def test_what_the_compiler_says_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel, given, options = recorded_call("gpu_softmax_rows", torch.zeros(4, 100))[0]
    with pytest.raises(Exception, match="power of 2"):
        ahead.compile_for((kernel, {**given, "block": 100}, options), 90)


class Driver:
    """A GPU to compile for, as far as Triton's launches ask."""

    def __init__(self) -> None:
        self.launchers: list[str] = []
        self.process, self.dies = os.getpid(), False  # whether other processes die of their first kernel
        self.utils = SimpleNamespace(get_device_properties=lambda _: {}, launch=lambda *_: None)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _: int = 0) -> int:
        return 0

    def get_current_target(self) -> object:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def launcher_cls(self, _: object, metadata: object) -> None:
        from triton.runtime import driver as drivers

        if self.dies and os.getpid() != self.process:
            os._exit(1)
        assert drivers.active.utils.launch  # as Triton's own launchers do since 3.9
        self.launchers.append(metadata.name)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    from triton.runtime import driver as drivers

    own = Driver()
    monkeypatch.setattr(drivers, "_active", own)
    return own


def test_a_call_is_compiled_and_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: Driver) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    model = model_of("gpu_softmax_rows")
    x = torch.zeros(4, 100)
    with torch.no_grad():
        same = ahead.compile_only(lambda: (model(x), model(x + 1)))
        assert same == ahead.compile_only(lambda: (model(x), model(x)))
        assert same != ahead.compile_only(lambda: model(torch.zeros(4, 300)))
    assert driver.launchers == ["softmax_rows"] * 3  # one that is launched twice is compiled once
    assert list(tmp_path.rglob("*.cubin"))


def test_several_kernels_are_compiled_in_processes_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: Driver
) -> None:
    from triton.backends.nvidia.compiler import CUDABackend

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    plain, notes = CUDABackend.make_cubin, tmp_path / "who"

    def noted(*args: object) -> object:
        with notes.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return plain(*args)

    monkeypatch.setattr(CUDABackend, "make_cubin", noted)
    model = model_of("gpu_softmax_rows")
    sizes = [torch.zeros(4, columns) for columns in (100, 300, 900)]
    ahead.compile_ahead(lambda: [model(x) for x in sizes], 2)
    by = notes.read_text().split()
    assert len(by) == 3 and str(os.getpid()) not in by
    assert not driver.launchers, "nothing was left for this process"


def test_what_a_process_leaves_undone_is_compiled_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: Driver
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(driver, "dies", True)
    model = model_of("gpu_softmax_rows")
    ahead.compile_ahead(lambda: (model(torch.zeros(4, 100)), model(torch.zeros(4, 300))), 2)
    assert driver.launchers == ["softmax_rows"] * 2
    assert len(list(tmp_path.rglob("*.cubin"))) == 2


def test_a_cache_that_is_moved_is_still_found_by_its_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: Driver
) -> None:
    link, places = tmp_path / "link", [tmp_path / "one", tmp_path / "other"]
    places[0].mkdir()
    link.symlink_to(places[0])
    monkeypatch.setenv("TRITON_CACHE_DIR", str(link))
    x = torch.zeros(4, 100)
    model = model_of("gpu_softmax_rows")
    ahead.compile_only(lambda: model(x))
    places[0].rename(places[1])
    link.unlink()
    link.symlink_to(places[1])
    made = {path: path.stat().st_mtime_ns for path in places[1].rglob("*.cubin")}
    again = model_of("gpu_softmax_rows")  # kernels of its own, which know nothing of the first
    ahead.compile_only(lambda: again(x))
    assert made and {path: path.stat().st_mtime_ns for path in places[1].rglob("*.cubin")} == made


def test_a_guest_compiles_no_more_at_a_time_than_its_walls_allow() -> None:
    assert [ahead.workers_for(cores) for cores in (1, 2, 8)] == [1, 2, 8]
    assert 1 + ahead.workers_for(128) * ahead.PROCESSES_EACH <= Limits.processes
