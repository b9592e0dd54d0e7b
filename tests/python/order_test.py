"""Checked calls on a GPU: the caller's stream must wait for the result."""

import time

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


def runner_of(model) -> Runner:
    runner = Runner([], "cpu")
    runner.device, runner.model = Recorded(), model
    return runner


def test_the_stream_is_busy_for_longer_than_any_call_kept_the_host() -> None:
    def slow(x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.02)
        return x + 1

    runner = runner_of(slow)
    runner.call([torch.ones(4)])
    runner.call([torch.ones(4)], in_order=True)
    assert runner.device.delays[-1] > 0.04


def test_a_result_that_comes_after_the_copy_is_refused() -> None:
    result = torch.zeros(8)
    runner = runner_of(lambda x: result)
    runner.device.late = lambda: result.fill_(1)
    with pytest.raises(Refused, match="background-work"):
        runner.call([torch.ones(4)], in_order=True)
