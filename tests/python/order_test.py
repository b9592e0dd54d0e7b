"""What a candidate's process does around calls on a GPU: the caller's stream must wait for the result, and timed calls find
the memory that the calls before them left."""

import re
import time
from pathlib import Path

import pytest
import torch

from mtmc.candidate import Refused
from mtmc.runner import Runner


class Recorded:
    """A device that notes how long it was kept busy, and what is done at its next wait."""

    name = "cuda"

    def __init__(self) -> None:
        self.delays: list[float] = []
        self.late = lambda: None

    def ready(self) -> None:
        pass

    def delay(self, seconds: float) -> None:
        self.delays.append(seconds)

    def synchronize(self) -> None:
        self.late()


class OpenRunner(Runner):
    """Its methods can be replaced: without `__slots__` an instance takes any attribute."""


def runner_of(model) -> Runner:
    runner = Runner([], "cpu")
    runner.device, runner.model = Recorded(), model
    return runner


def test_the_stream_is_busy_for_longer_than_the_call_before_kept_the_host() -> None:
    def slow(x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.004)
        return x + 1

    runner = runner_of(slow)
    runner.call([torch.ones(4)])
    runner.call([torch.ones(4)], in_order=True)
    assert 0.008 < runner.device.delays[-1] <= 0.02


def test_what_does_not_wait_reads_arguments_without_their_values() -> None:
    seen = []
    runner = runner_of(lambda x: x + 1)
    runner.device.delay = lambda _: seen.append(argument.clone())
    argument = torch.arange(4.0)
    result = runner.call([argument], in_order=True)
    assert torch.equal(seen[0], torch.zeros(4))
    assert torch.equal(result, torch.arange(4.0) + 1)


def test_a_result_that_comes_after_the_copy_is_refused() -> None:
    result = torch.zeros(8)

    def gives_early(x: torch.Tensor) -> torch.Tensor:
        runner.device.late = lambda: result.fill_(1)
        return result

    runner = runner_of(gives_early)
    with pytest.raises(Refused, match="background-work"):
        runner.call([torch.ones(4)], in_order=True)


def test_no_memory_is_given_back_within_a_timed_round() -> None:
    rounds = Path(__file__).parents[2].joinpath("src/eval/rounds.cpp").read_text()
    asked = set(re.findall(r'"op", "(\w+)"', rounds))
    assert {"arm", "hello", "go"} <= asked
    runner, given_back = OpenRunner([], "cpu"), []
    runner.release = lambda: given_back.append(True)
    for op in ("wake", "keep", *asked):
        setattr(runner, "on_" + op, lambda _: {})
        runner.handle({"op": op})
    assert not given_back
    runner.on_run = lambda _: {}
    runner.handle({"op": "run"})
    assert given_back
