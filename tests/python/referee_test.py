"""The referee: what it compares by which rule, and what it says when the memory is full."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from rooms import Rooms

from mtmc.device.device import device_named
from mtmc.device.digest import digest
from mtmc.referee import budgets, kept_draws
from mtmc.referee.budgets import compare, compare_calls
from mtmc.referee.referee import Referee
from mtmc.referee.reference import EagerError, Reference
from mtmc.rivals.baseline import Player
from mtmc.task.task import Task, load_task
from mtmc.wire.task_error import TaskError

PERMUTES = """
import random
import torch
class Model(torch.nn.Module):
    def forward(self, order, mask, count, scale):
        return torch.arange(64)[order] * mask * count * scale
def get_inputs():
    return [torch.randperm(64), torch.rand(64) < 0.5, random.randrange(1 << 30), torch.full((), 2.0)]
"""


ROUNDS = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return (x * 1e4 + 1e-3).sum().item()
def get_inputs():
    return [torch.randn(4096)]
"""


# Returns, and divides by, what the calls before left.
COUNTS = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.scale = torch.nn.Parameter(torch.full((4,), 1e-6))
    def forward(self, x):
        self.seen.mul_(0.5).add_(x.mean(0))
        return self.seen, x * self.scale / (1 + self.seen.abs())
def get_inputs():
    return [torch.randn(8, 4)]
"""


def test_a_module_is_built_while_others_use_the_gpu(
    rooms: Rooms, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, str] = {}

    def watch(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def watched(*arguments: object, **named: object) -> object:
            seen.setdefault(name, rooms.state())
            return real(*arguments, **named)

        monkeypatch.setattr(owner, name, watched)

    watch(Task, "make_model")
    watch(Reference, "run_eager")
    request.getfixturevalue("referee")
    assert seen == {"make_model": "free", "run_eager": "with others"}
    assert rooms.state() == "free"


@pytest.mark.parametrize(("element", "mismatched"), [(1.0, 1), (math.inf, 0)])
def test_a_statistic_may_be_lost_otherwise_only_after_arguments_that_are_not_finite(
    referee: Referee, element: float, mismatched: int
) -> None:
    draw = referee.draw("task-0")
    draw.arguments[0][0, 0] = element
    for states in (draw.eager.after, draw.truth.after):
        states[0]["norm.running_mean"][0] = math.inf
    lost = draw.eager.after[0]["norm.running_mean"].clone()
    lost[0] = math.nan
    found = compare(draw, 0, draw.eager.calls[0], {**draw.eager.after[0], "norm.running_mean": lost})
    (of_the_mean,) = (one for one in found if one["output"] == "state:norm.running_mean")
    assert of_the_mean["mismatched"] == mismatched


def written(referee: Referee, name: str) -> list:
    """The arguments of a timed call as the timed process gets them: tensors from the file, scalars with the call."""
    told = referee.handle({"op": "arguments", "name": name})
    assert "seed" in told and told["fill"].endswith("draws/" + name)
    found = referee.lender.seen(
        told["form"] | {"list": filled(told)}, str(referee.folder / "draws" / name), "", 1 << 20
    )
    return [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in found]


def filled(told: dict) -> list[dict]:
    """The parts of a form with their scalars in place."""
    values = iter(told["values"])
    return [next(values) if "hole" in part else part for part in told["form"]["list"]]


@pytest.mark.parametrize("referee", [PERMUTES], indirect=True)
def test_timed_calls_on_integers_get_draws_of_their_own(referee: Referee) -> None:
    names = ["timed-3", "timed-3~1", "timed-3~2", "timed-4"]
    draws = {name: written(referee, name) for name in names}
    for part in (0, 1, 2):
        assert len({repr(draw[part]) for draw in draws.values()}) == len(names)
    assert all(draw[0].sort().values.tolist() == list(range(64)) for draw in draws.values())
    again = referee.draws.arguments("timed-3~1")  # as it is measured later
    assert digest(again) == digest(draws["timed-3~1"])
    assert referee.handle({"op": "forget", "names": names}) == {}
    assert not referee.draws.timed.keys() & set(names) and not any(
        (referee.folder / "draws" / n).exists() for n in names
    )


def test_timed_calls_on_floats_mix_two_draws_and_leave_no_element_in_place(referee: Referee) -> None:
    first, one, other, second = (written(referee, f"timed-{name}")[0] for name in ("3", "3~1", "3~2", "4"))
    for mix in (one, other):
        assert not (mix == first).any() and not (mix == second).any()
        assert bool((torch.isin(mix, first) | torch.isin(mix, second)).all())
        assert torch.isin(mix, first).any() and torch.isin(mix, second).any()
    assert not torch.equal(one, other)
    assert torch.equal(referee.draws.arguments("timed-3~1")[0], one)  # as it is measured later


@pytest.mark.parametrize("referee", [ROUNDS], indirect=True)
def test_a_number_may_err_as_eager_does_and_no_more(referee: Referee) -> None:
    budgets = [one["error"] for run in referee.budgets.of_kind("task").allowed for one in run]
    assert 0 < max(budgets) < 1e-4  # of what eager rounds away
    draw = referee.draw("task-0")
    (found,) = compare(draw, 0, [draw.eager.calls[0][0] * 2], {})
    assert found["kind"] == "float" and math.isclose(found["error"], 1, rel_tol=1e-3)


@pytest.mark.parametrize("referee", [COUNTS], indirect=True)
def test_a_state_that_is_returned_moves_on_with_each_call(referee: Referee) -> None:
    draw = referee.draw("task-0")
    for calls, states in ((draw.eager.calls, draw.eager.after), (draw.truth.calls, draw.truth.after)):
        assert [torch.equal(call[0], state["seen"]) for call, state in zip(calls, states, strict=True)] == [True, True]
        assert not torch.equal(calls[0][0], calls[1][0])
    first = compare(draw, 0, draw.eager.calls[0], draw.eager.after[0])
    assert max(one["error"] for one in first) < 1e-6 and first[-1]["output"] == "state:seen"
    (stale,) = (one for one in compare(draw, 1, draw.eager.calls[1], draw.eager.after[0])[2:])
    assert stale["error"] > 0.1


@pytest.mark.parametrize("referee", [COUNTS], indirect=True)
def test_tiny_parameters_are_larger_on_the_lifted_draw(referee: Referee) -> None:
    assert float(referee.draw("lifted-0").state["scale"].min()) > 0.1
    assert float(referee.draw("weights-0").state["scale"].max()) < 1e-5
    assert "lifted" in referee.states


@pytest.mark.parametrize("referee", [COUNTS], indirect=True)
def test_weights_that_are_alike_are_held_once(referee: Referee) -> None:
    first, lifted = referee.states["first"], referee.states["lifted"]
    assert {name for name in first if lifted[name] is not first[name]} == {"scale"}
    assert all(referee.states["second"][name] is not first[name] for name in first if first[name].is_floating_point())


@pytest.mark.parametrize("kind", [Referee, Player])
def test_whoever_keeps_memory_that_others_lack_says_how_much_was_given_back(kind: type, referee: Referee) -> None:
    assert (referee if kind is Referee else kind()).handle({"op": "spare"}) == {"freed": 0}  # of a GPU's there is none


@pytest.mark.parametrize("referee", [COUNTS], indirect=True)
def test_a_run_that_leaves_a_statistic_as_it_was_is_measured_all_the_same(referee: Referee) -> None:
    draw = referee.draw("task-0")
    assert list(draw.eager.after[0]) == ["seen"]
    ((*_, of_state),) = compare_calls(draw, draw.eager.calls[:1], [{}])
    assert of_state["output"] == "state:seen" and of_state["error"] > 0.1


@pytest.mark.parametrize("referee", [COUNTS], indirect=True)
def test_where_memory_was_short_what_is_kept_makes_room(referee: Referee, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = []
    kind = type(referee.reference.model)
    forward = kind.forward

    def full_at_first(self: torch.nn.Module, x: torch.Tensor) -> object:
        if fails:
            raise fails.pop()
        return forward(self, x)

    monkeypatch.setattr(kind, "forward", full_at_first)
    full = torch.OutOfMemoryError("full")

    def told(name: str, often: int) -> dict:
        fails[:] = [full] * often
        return referee.handle({"op": "draw", "name": name, "budget": ""})

    assert told("offset-0", 1)["calls"] == 1  # eager is called once more
    assert "task-0" in referee.draws.known
    assert told("negative-0", 2)["calls"] == 1
    assert "task-0" not in referee.draws.known
    assert "full" in told("scaled-0", 4)["error"]["got"]
    calls = 0

    def full_in_the_second_draw(draw: object, *more: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise full
        return compare_calls(draw, *more)

    monkeypatch.setattr(budgets, "compare_calls", full_in_the_second_draw)
    runs = referee.handle({"op": "draw", "name": "few-rows-0", "budget": "kind"})["eager_errors"]
    monkeypatch.undo()
    assert len(runs) == len(referee.handle({"op": "draw", "name": "offset-0", "budget": "kind"})["eager_errors"])
    monkeypatch.setattr(kind, "forward", full_at_first)
    other = referee.budgets.others[0]
    assert told(f"{other}-0", 4)["skipped"].endswith("full")  # at another size it may be larger than it ever is


@pytest.mark.parametrize("referee", [COUNTS], indirect=True)
def test_get_inputs_that_finds_no_memory_is_asked_again_and_others_are_spared_memory(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_draw, fails = kept_draws.make_draw, [torch.OutOfMemoryError("full")]

    def made(*asked: object) -> list:
        if fails:
            raise TaskError("calling get_inputs()", "out of memory") from fails.pop()
        return make_draw(*asked)

    monkeypatch.setattr(kept_draws, "make_draw", made)
    assert "task-0" in referee.draws.known
    assert "calls" in referee.handle({"op": "draw", "name": "negative-0", "budget": ""})
    assert list(referee.draws.known) == ["negative-0"]
    assert referee.handle({"op": "spare"}) == {"freed": 0} and not referee.draws.known


@pytest.mark.parametrize("referee", [COUNTS], indirect=True)
def test_the_host_computes_a_truth_only_when_all_that_is_kept_was_dropped(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_truth, asked = referee.reference.run_truth, []

    def full(*arguments: object, anywhere: bool = True, **more: object) -> object:
        asked.append((anywhere, sorted(referee.draws.known)))
        if not anywhere:
            raise torch.OutOfMemoryError("full")
        return run_truth(*arguments, anywhere=anywhere, **more)

    assert "calls" in referee.handle({"op": "draw", "name": "task-0", "budget": ""})
    monkeypatch.setattr(referee.reference, "run_truth", full)
    assert "calls" in referee.handle({"op": "draw", "name": "negative-0", "budget": ""})
    assert asked == [(False, ["task-0"]), (True, [])]


THRESHOLD = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.register_buffer("high", torch.zeros(4))
    def forward(self, x):
        self.seen.mul_(0.5).add_(x.mean(0))
        self.high.mul_(0.5).add_(torch.relu(x - 9).mean(0))
        return x + self.high
def get_inputs():
    return [torch.rand(8, 4)]
"""


@pytest.mark.parametrize("referee", [THRESHOLD], indirect=True)
def test_candidates_are_asked_for_state_that_moves_on_other_arguments_only(referee: Referee) -> None:
    assert list(referee.draw("task-0").eager.state) == ["seen"]
    assert sorted(referee.states["moved-first"]) == ["high", "seen"] == sorted(referee.draw("scaled-up-0").eager.state)
    referee.draws.watched = ["seen"]
    referee.draws.forget_all()
    draw = referee.draw("scaled-up-0")
    assert list(draw.eager.state) == ["seen"], "nobody is asked for the other one"
    referee.draws.watched = []
    referee.draws.forget_all()
    assert not referee.draw("scaled-up-0").eager.repeats, "which moves, though"


@pytest.mark.parametrize("referee", [ROUNDS], indirect=True)
def test_a_truth_for_which_the_gpu_is_too_small_comes_from_the_host_and_says_so(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert referee.on_draw({"name": "task-0", "budget": ""})["on_host"] is False
    replay, calls = Reference._replay, []

    def first_full(*given: object) -> object:
        calls.append(given)
        return full() if len(calls) == 1 else replay(*given)

    monkeypatch.setattr(Reference, "_replay", first_full)
    assert referee.on_draw({"name": "task-1", "budget": ""})["on_host"] is True


RAISES_AT_TIMES = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        if x.abs().max() > 100 and int(x.flatten()[0]) % 2:
            raise ValueError("odd")
        return x * 2
def get_inputs():
    return [torch.randn(8, 8)]
"""


@pytest.mark.parametrize("referee", [RAISES_AT_TIMES], indirect=True)
def test_what_is_asked_for_of_a_kind_on_which_eager_raises_at_times_is_answered(referee: Referee) -> None:
    draws = [referee.handle({"op": "draw", "name": f"scaled-up-{i}", "budget": "draw"}) for i in range(5)]
    assert {"skipped" in draw for draw in draws} == {True, False}
    assert "odd" in referee.handle({"op": "budget", "kind": "scaled-up"})["skipped"]
    assert referee.handle({"op": "beside", "draw": "scaled-up-0"}) == {}


@pytest.mark.parametrize("referee", [ROUNDS], indirect=True)
def test_other_sizes_for_which_the_gpu_is_too_small_are_done_without(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, calls = referee.budgets.others[0], []

    def always_full(*given: object) -> object:
        calls.append(given)
        return full()

    monkeypatch.setattr(Reference, "_replay", always_full)
    told = referee.handle({"op": "draw", "name": f"{kind}-0", "budget": "draw"})
    assert told["no_room"] and "out of memory" in told["skipped"]
    assert len(calls) == 2, "once more without what is kept, and not on the host, whose memory may be too small as well"
    assert referee.handle({"op": "budget", "kind": kind})["no_room"]
    assert referee.handle({"op": "beside", "draw": f"{kind}-0"}) == {}


PLAIN = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(4, 1024)]
"""


@pytest.mark.parametrize("returned", ["x * 2", "x", "x[:, ::2]"])
def test_large_results_stay_where_eager_put_them_if_they_are_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returned: str
) -> None:
    monkeypatch.setattr("mtmc.referee.reference.COPIED_BYTES", 16)
    (tmp_path / "model.py").write_text(PLAIN.replace("x * 2", returned))
    made = Reference(load_task({"name": "t", "file": str(tmp_path / "model.py")}), 1, device_named("cpu"))
    seen: list[torch.Tensor] = []
    made.model.register_forward_hook(lambda *given: seen.append(given[-1]))
    made.attributes.clear()  # else it goes with what a call leaves
    x = torch.ones(8, 8)
    eager = made.run_eager([x], {}, 0)
    assert (eager.calls[0][0].data_ptr() == seen[0].data_ptr()) == (returned == "x * 2")
    assert eager.shared.any == [returned != "x * 2"]


def test_large_arguments_are_lent_to_a_module_that_was_seen_to_read_them_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mtmc.referee.reference.COPIED_BYTES", 16)
    (tmp_path / "model.py").write_text(PLAIN.replace("x * 2", "x.relu_() if x[0, 0] > 0 else x * 2"))
    made = Reference(load_task({"name": "t", "file": str(tmp_path / "model.py")}), 1, device_named("cpu"))
    seen: list[torch.Tensor] = []
    made.model.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    made.attributes.clear()  # else it goes with what a call leaves
    x = -torch.ones(8, 8)
    for _ in range(2):
        assert made.run_eager([x], {}, 0).modified == []
    assert [one.data_ptr() == x.data_ptr() for one in seen] == [False, True]
    with pytest.raises(EagerError, match="writes to its arguments"):
        made.run_eager([-x], {}, 0)


def full(*_: object) -> dict[str, object]:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nMore about it.")


@pytest.mark.parametrize(
    ("kind", "doing"),
    [(Referee, "computing what the module must return"), (Player, "timing the module as it is")],
)
def test_a_full_memory_is_one_sentence(monkeypatch: pytest.MonkeyPatch, kind: type, doing: str) -> None:
    monkeypatch.setattr(kind, "on_full", full, raising=False)
    answer = kind().handle({"op": "full"})
    assert answer == {
        "error": {
            "doing": doing,
            "wrong": "out of memory",
            "got": "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
            "wanted": "smaller arguments, or a GPU with more memory: the judge holds them several times",
        }
    }


# The truth of its result is beyond the type that eager has it in.
OVERFLOWS = """
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.dot(x, y)
def get_inputs():
    return [torch.full((64,), 60.0, dtype=torch.float16), torch.full((64,), 60.0, dtype=torch.float16)]
"""


@pytest.mark.parametrize("referee", [OVERFLOWS], indirect=True)
def test_a_truth_beyond_eagers_type_has_nulls(referee: Referee) -> None:
    request = {"nulls": ["zeros", "constant"], "draw": "task-0", "first": "task-0"}
    nulls = referee.on_nulls(request)["nulls"]
    assert float(referee.draw("task-0").eager.calls[0][0]) == math.inf
    assert nulls["zeros"][0]["error"] == nulls["constant"][0]["error"] == 0


@pytest.mark.parametrize("referee", [OVERFLOWS], indirect=True)
def test_a_result_on_the_host_of_a_gpu_ends_in_one_sentence(referee: Referee, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody could see what a candidate leaves there."""
    monkeypatch.setattr(referee.device, "lends", True)
    monkeypatch.setattr(referee.device, "give_back", lambda *_: None, raising=False)
    draw = referee.draw("task-0")
    with pytest.raises(EagerError, match="lies on the host"):
        referee.reference.run_eager(draw.arguments, draw.state, draw.seed)
    referee.draws.forget_all()
    monkeypatch.setattr(referee, "on_ask", lambda _: referee.draw("task-0"), raising=False)
    told = referee.handle({"op": "ask"})["error"]
    assert told["doing"] == "running the module on the task's own arguments" and "lies on the host" in told["wrong"]
