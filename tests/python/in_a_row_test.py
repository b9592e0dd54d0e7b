"""Calls in a row have arguments of their own where something lasts, and timed calls a state that is not the first one."""

from __future__ import annotations

from pathlib import Path

import torch

from mtmc.device.device import device_named
from mtmc.referee.draws import seed_of
from mtmc.referee.in_a_row import InARow, arguments_of, moved_in_a_row
from mtmc.referee.kept_draws import KeptDraws
from mtmc.referee.opening import FEWEST_BEFORE, late_state, timed_state
from mtmc.referee.reference import Reference
from mtmc.referee.sampled import Sampler
from mtmc.task.task import load_task
from traced_modules import module_text

SUMS = "self.total = self.total + x\nself.seen = torch.cat([self.seen, x])\nreturn self.total * 1.0"
INIT = "self.total, self.seen = torch.zeros(4, 8), torch.zeros(0, 8)"


def kept(folder: Path, body: str, init: str = "") -> KeptDraws:
    (folder / "model.py").write_text(module_text(body, init))
    made = Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))
    states = {"first": made.pristine}
    return KeptDraws(made, Sampler(made, seed_of(1, "x"), "eager"), 1, states)


def test_each_call_has_its_own_arguments(tmp_path: Path) -> None:
    draws = kept(tmp_path, SUMS, INIT)
    draw = draws.draw("repeated-1")
    calls = [arguments_of(draw.arguments, index)[0] for index in range(len(draw.eager.calls))]
    assert len(calls) > 2 and not torch.equal(calls[0], calls[1]) and not torch.equal(calls[1], calls[2])
    assert torch.equal(draws.arguments("repeated-1+2")[0], calls[2]), "as a candidate gets them"
    for run in (draw.eager, draw.truth):
        for index, (total,) in enumerate(run.calls):
            assert torch.allclose(total.double(), sum(x.double() for x in calls[: index + 1]), atol=1e-6)


def test_without_a_state_they_are_the_same(tmp_path: Path) -> None:
    assert not isinstance(kept(tmp_path, "return x * 2").draw("repeated-1").arguments, InARow)


def test_all_of_them_move(tmp_path: Path) -> None:
    arguments = kept(tmp_path, SUMS, INIT).draw("repeated-1").arguments
    moved = moved_in_a_row(arguments, torch.device("cpu"))
    assert torch.equal(arguments_of(moved, 2)[0], arguments_of(arguments, 2)[0])


def test_timed_calls_begin_with_what_calls_have_left_but_for_what_grows(tmp_path: Path) -> None:
    draws = kept(tmp_path, SUMS, INIT)
    first, eager = draws.states["first"], draws.draw("task-0").eager
    state = timed_state(first, [".seen", ".total"], eager)["timed"]
    assert state[".total"].any() and state[".seen"].shape == (0, 8)
    draws.states["timed"] = state
    x, timed = draws.arguments("timed-0")[0], draws.draw("timed-0")
    assert torch.allclose(timed.eager.calls[0][0], state[".total"] + x)
    assert timed_state(first, [], eager) == {}


def test_calls_in_a_row_begin_with_a_counter_as_after_hundreds_of_calls(tmp_path: Path) -> None:
    count = "self.register_buffer('count', torch.zeros((), dtype=torch.long))"
    draws = kept(tmp_path, "self.count += 1\nreturn x / self.count", count)
    state = late_state(draws, ["count"], draws.draw("task-0"))["repeated"]
    assert int(state["count"]) >= FEWEST_BEFORE
    draws.states["repeated"] = state
    draw = draws.draw("repeated-0")
    assert torch.allclose(draw.eager.calls[0][0] * (state["count"] + 1), draw.arguments[0], atol=1e-5)


def test_a_counter_that_would_point_nowhere_stays(tmp_path: Path) -> None:
    place = "self.register_buffer('place', torch.zeros((), dtype=torch.long))\nself.table = torch.ones(8, 8)"
    draws = kept(tmp_path, "self.place += 1\nreturn x * self.table[self.place]", place)
    assert late_state(draws, ["place"], draws.draw("task-0")) == {}
