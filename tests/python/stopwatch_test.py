"""Results that are written after the clock has stopped, and the memory that they might be found in."""

from __future__ import annotations

import torch

from mtmc.device import Cpu
from mtmc.stopwatch import Stopwatch, overwrite


def timed(result: torch.Tensor) -> Stopwatch:
    watch = Stopwatch(Cpu())
    watch.arguments = []
    watch.go(lambda: result)
    return watch


def test_a_result_written_after_the_clock_has_stopped_is_noticed() -> None:
    result = torch.zeros(4096)
    watch = timed(result)
    assert not watch.written_later()
    result.fill_(1.0)
    assert watch.written_later()


def test_old_results_are_not_written_to_while_a_caller_may_keep_them() -> None:
    result = torch.ones(4096)
    watch = timed(result)
    watch.previous, watch.result = watch.result, None
    watch._scribble()
    assert bool((result == 1).all())


def test_new_values_lie_where_the_old_ones_did_and_numbers_are_new() -> None:
    x, y = torch.zeros(3), torch.zeros(2)
    found = overwrite([x, 1, {"y": (y, "a")}], [torch.ones(3), 2, {"y": (torch.ones(2), "b")}])
    assert found[0] is x and found[2]["y"][0] is y and bool((x == 1).all()) and bool((y == 1).all())
    assert found[1] == 2 and found[2]["y"][1] == "b"
