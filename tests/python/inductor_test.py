"""What torch.compile does on a GPU that others use, too: it times alone, runs beside them, and keeps nobody waiting meanwhile."""

import gc
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from rooms import Rooms

from mtmc.device.turn import turn
from mtmc.rivals import baseline, inductor
from mtmc.rivals.baseline import Player


class Watched:
    """A backend of torch.compile that notes whose turn it is when it compiles, when it times as Inductor does, and when what it
    made runs."""

    def __init__(self, rooms: Rooms) -> None:
        self.rooms = rooms
        self.seen: list[str] = []

    def __call__(self, graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., Any]:
        self.note("compiles")
        clock = importlib.import_module(inductor.BENCHMARKING).TritonBenchmarker()
        vars(clock)["triton_do_bench"] = self.timed
        clock.benchmark(lambda: None, device="cuda")
        self.note("compiles")

        def run(*arguments: Any) -> Any:
            self.note("runs")
            return graph(*arguments)

        return run

    def note(self, what: str) -> None:
        self.seen.append(f"{what} {self.rooms.state()}")

    def timed(self, _: Callable[[], Any], return_mode: str) -> float:
        self.note("times")
        return 1.0


def test_what_inductor_times_it_times_alone_and_what_compiles_keeps_nobody_waiting(rooms: Rooms) -> None:
    watched = Watched(rooms)

    def model(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        torch._dynamo.graph_break()
        return y + 1

    compiled = torch.compile(model, backend=watched)
    with inductor.in_turns():
        compiled(torch.ones(3))
        rooms_then = rooms.state()
    once = ["compiles free", "times alone", "compiles free", "runs with others"]
    assert watched.seen == 2 * once
    assert rooms_then == "with others" and rooms.state() == "free"
    compiled(torch.ones(3))
    assert watched.seen[8:] == ["runs free", "runs free"]


def test_when_calls_are_timed_whoever_asked_for_them_has_the_turn(rooms: Rooms) -> None:
    watched = Watched(rooms)
    compiled = torch.compile(lambda x: x * 3, backend=watched, dynamic=False)
    with inductor.in_turns():
        compiled(torch.ones(3))
    compiled(torch.ones(4))  # compiles anew: to wait for the turn of whoever waits for it would be for ever
    assert watched.seen[4:] == ["compiles free", "times free", "compiles free", "runs free"]


def test_what_does_not_compile_keeps_no_turn(rooms: Rooms) -> None:
    def fails(*_: Any) -> Any:
        raise ValueError("no code")

    with pytest.raises(Exception, match="no code"), inductor.in_turns():
        torch.compile(lambda x: x * 5, backend=fails)(torch.ones(3))
    assert rooms.state() == "free"
    with turn(alone=True):
        assert rooms.state() == "alone"


class Autotuner:
    """As torch._inductor.runtime.triton_heuristics has it: the versions of a kernel are compared, then steps from the best one are
    compiled and timed."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    def autotune_to_one_config(self) -> None:
        for _ in range(2):
            self.watched.note("versions")

    def coordinate_descent_tuning(self) -> None:
        self.watched.note("compiles")


def test_versions_of_a_kernel_are_compared_in_one_turn(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(rooms)
    heuristics = type("Heuristics", (), {"CachingAutotuner": Autotuner})
    monkeypatch.setattr(inductor, "_making", True)
    inductor.take_turns(importlib.import_module(inductor.BENCHMARKING), heuristics)
    inductor.take_turns(importlib.import_module(inductor.BENCHMARKING), heuristics)  # the second time it is nothing
    with turn(alone=False):
        Autotuner(watched).autotune_to_one_config()
        watched.note("runs")
        Autotuner(watched).coordinate_descent_tuning()
    assert watched.seen == ["versions alone", "versions alone", "runs with others", "compiles free"]


def test_all_clocks_of_inductor_are_known() -> None:
    """Else they would time while others do: this version of torch has what `take_turns` looks for."""
    benchmarking = importlib.import_module(inductor.BENCHMARKING)
    inductor.take_turns(benchmarking, importlib.import_module(inductor.AUTOTUNER))
    assert hasattr(type(benchmarking.benchmarker).benchmark_gpu, "takes_turns")
    source = Path(benchmarking.__file__).parents[1]
    direct = [path for path in source.rglob("*.py") if "triton.testing import do_bench" in path.read_text()]
    assert [path.name for path in direct] == ["benchmarking.py"]


@pytest.mark.parametrize(
    ("error", "lacks_memory"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (RuntimeError("backend raised:\nCUDA out of memory."), True),
        (ValueError("no code"), False),
    ],
)
def test_says_when_it_lacks_memory(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch, error: Exception, lacks_memory: bool
) -> None:
    class NoArguments:
        def arguments(self, _: object) -> list[Any]:
            return []

    def fails(*_: Any, **__: Any) -> Any:
        raise error

    player = Player()
    player.device, player.model = torch.device("cpu"), torch.nn.Identity()  # type: ignore[assignment]
    player.name, player.stopwatches = "compile", {"compile": NoArguments()}  # type: ignore[dict-item]
    monkeypatch.setattr(torch, "compile", fails)
    answer = player.handle({"op": "engine", "values": None})
    assert answer["lacks_memory"] == lacks_memory and answer["failed"].startswith(type(error).__name__)
    assert all(begin <= end for begin, end in answer["waits"]) and rooms.state() == "free"


class Forks(Exception):
    pass


def test_torchs_compiler_is_loaded_behind_the_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded before it, its process ended on GPUs, and every result lacked this baseline."""
    loaded: list[str] = []

    def fork() -> int:
        raise Forks

    monkeypatch.setattr(sys, "argv", ["baseline", "eager", "compile"])
    monkeypatch.setattr(os, "fork", fork)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(importlib, "import_module", loaded.append)
    with pytest.raises(Forks):
        baseline.main()
    assert not loaded
    baseline.load_ahead()
    assert loaded == ["torch._inductor.compile_fx"]
    monkeypatch.setattr(sys, "argv", ["baseline", "eager"])
    baseline.load_ahead()
    assert len(loaded) == 1, "who does not compile does not wait for it"
