"""What a candidate's process does around calls on a GPU: the caller's stream must wait for the result, and calls in a row find
the memory that the calls before them left."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mtmc.device.device import Cpu
from mtmc.guest.runner import Runner
from mtmc.wire.forms import form_of, without_values


class Recorded(Cpu):
    """A device that notes how long it was kept busy, and does something else once a call has returned."""

    def __init__(self) -> None:
        super().__init__()
        self.delays: list[float] = []
        self.while_busy = lambda: None
        self.afterwards = lambda: None

    def delay(self, seconds: float) -> None:
        self.delays.append(seconds)
        self.while_busy()

    def timed(self, call: Callable[[], Any]) -> tuple[Any, int]:
        found = super().timed(call)
        self.afterwards()
        return found


class OpenRunner(Runner):
    """Its methods can be replaced: without `__slots__` an instance takes any attribute."""


def runner_of(model: Callable[..., Any], argument: torch.Tensor) -> OpenRunner:
    """A runner with memory for the argument, which lies there by now."""
    runner = OpenRunner([], "cpu", {})
    runner.device = Recorded()
    runner.stopwatch = type(runner.stopwatch)(runner.device)
    runner.model = model
    form, _ = without_values(form_of([argument]))
    runner.handle(
        {"op": "arm", "form": form, "same_addresses": False, "hold": 1, "poison": False, "clean": False, "state": []}
    )
    runner.stopwatch.places[0].copy_(argument)
    runner.loaded = {"by_name": []}
    return runner


def go(runner: Runner, late: bool) -> dict[str, Any]:
    return runner.handle({"op": "go", "values": [], "seed": 1, "late": late})


# entries_of asks the module for its entries, of which none is asked for here.
class Slow(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.004)
        return x + 1


class Adds(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Keeps(torch.nn.Module):
    """Returns memory that others may write to."""

    def __init__(self) -> None:
        super().__init__()
        self.result = torch.zeros(8)

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        return self.result


def test_the_stream_is_busy_for_longer_than_the_call_before_kept_the_host() -> None:
    runner = runner_of(Slow(), torch.ones(4))
    assert "ns" in go(runner, late=False) and not runner.device.delays
    assert "ns" in go(runner, late=True)
    assert 0.008 < runner.device.delays[-1] <= 0.02


def test_it_stays_so_in_late_calls_in_a_row_whatever_clock_the_candidate_puts_there() -> None:
    asked = time.perf_counter_ns

    class Stops(Slow):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            def once() -> int:
                time.perf_counter_ns = asked
                return 0

            result = super().forward(x)
            time.perf_counter_ns = once
            return result

    for model in (Slow(), Stops()):
        runner = runner_of(model, torch.ones(4))
        for _ in range(4):
            go(runner, late=True)
            time.perf_counter_ns = asked
        assert all(0.006 < delay <= 0.02 for delay in runner.device.delays[1:]) and len(runner.device.delays) == 4


def test_what_does_not_wait_reads_arguments_without_their_values() -> None:
    seen = []
    runner = runner_of(Adds(), torch.arange(4.0))
    runner.device.while_busy = lambda: seen.append(runner.stopwatch.places[0].clone())
    assert "ns" in go(runner, late=True)
    assert torch.equal(seen[0], torch.zeros(4))
    assert torch.equal(runner.stopwatch.held[-1], torch.arange(4.0) + 1)


def test_a_result_that_comes_after_the_copy_is_refused() -> None:
    model = Keeps()
    runner = runner_of(model, torch.ones(4))
    runner.device.afterwards = lambda: model.result.fill_(1)
    assert go(runner, late=True)["fail"] == "background-work"
    assert "ns" in go(runner, late=True)  # by now it is always the same


def test_no_memory_is_given_back_between_calls_in_a_row() -> None:
    conductor = Path(__file__).parents[2].joinpath("python/mtmc/keeper/conduct.py").read_text()
    asked = set(re.findall(r'"op": "(\w+)"', conductor))
    assert asked == {"arm", "wake", "go"}
    runner, given_back = OpenRunner([], "cpu", {}), []
    runner.release = lambda: given_back.append(True)
    for op in (*asked, "hello", "after"):
        setattr(runner, "on_" + op, lambda _: {})
        runner.handle({"op": op})
    assert not given_back
    runner.on_profile = lambda _: {}
    runner.handle({"op": "profile"})
    assert given_back


def test_weights_that_are_set_anew_between_calls_cost_the_next_one_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, given_back = OpenRunner([], "cpu", {}), []
    runner.release = lambda: given_back.append(True)
    runner.on_state = lambda _: {}
    lend = {"op": "lend", "state": {"dict": [["w", without_values(form_of(torch.zeros(4)))[0]]]}}
    for request in (lend, {"op": "state"}):
        assert "fail" not in runner.handle(request)
    assert not given_back
    monkeypatch.setattr("mtmc.guest.runner.MOST_BETWEEN", 15)  # of larger ones the memory is wanted
    for request in (lend, {"op": "state"}):
        assert "fail" not in runner.handle(request)
    assert len(given_back) == 2
