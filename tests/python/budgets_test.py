"""What a candidate may err: how budgets grow when somebody would be refused."""

from __future__ import annotations

import pytest

from mtmc.referee import budgets
from mtmc.referee.referee import Referee

DOUBLES = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(4, 8)]
"""


def test_eagers_errors_on_a_large_draw_are_told_when_they_are_asked_for(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets.Budgets.of_draw, "__defaults__", (1,))
    assert referee.handle({"op": "draw", "name": "timed-3", "budget": ""})["allowed_errors"] == []
    errors = referee.handle({"op": "own", "draw": "timed-3"})["allowed_errors"]
    draw = referee.draw("timed-3")
    assert errors == budgets.compare_calls(draw, draw.eager.calls, draw.eager.after)


NORM = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])
def get_inputs():
    return [torch.randn(32, 512)]
"""


SOFTMAX = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.softmax(-1)
def get_inputs():
    return [torch.randn(4, 1024)]
"""


@pytest.mark.parametrize("referee", [SOFTMAX], indirect=True)
def test_a_budget_holds_sums_in_another_order_once_that_is_asked_for_and_eagers_errors_on_the_very_draw(
    referee: Referee,
) -> None:
    found = referee.handle({"op": "draw", "name": "one-hot-0", "budget": "kind"})
    assert found["beside"] == {} and referee.budgets.of_kind("task").beside
    beside = referee.handle({"op": "beside", "draw": "one-hot-0"})["of_kind"]
    (own,), (order,) = found["eager_errors"][0], beside["order-of-sums"][0]
    assert order["error"] > 4 * own["error"] > 0
    assert len(found["eager_errors"]) == len(found["allowed_errors"]) == 5  # the second call repeats the first
    timed = referee.handle({"op": "draw", "name": "timed-0", "budget": ""})
    assert timed["eager_errors"] == [] and 0 < timed["allowed_errors"][0][0]["error"] < 1e-6
    assert timed["beside"] == {}


@pytest.mark.parametrize("referee", [SOFTMAX], indirect=True)
def test_a_draw_has_the_errors_of_itself_until_those_of_its_kind_are_asked_for(referee: Referee) -> None:
    for kind in ("one-hot", referee.budgets.others[0]):
        alone = referee.handle({"op": "draw", "name": f"{kind}-1", "budget": "draw"})
        assert not alone["whole"] and list(referee.draws.known).count(f"{kind}-0") == 0, "no other draw was made"
        whole = referee.handle({"op": "budget", "kind": kind})
        for errors in ("eager_errors", "allowed_errors"):
            assert len(alone[errors]) < len(whole[errors])
            assert all(run in whole[errors] for run in alone[errors]), "so it allows no more than they do"
        again = referee.handle({"op": "draw", "name": f"{kind}-1", "budget": "draw"})
        assert again["whole"] and again["eager_errors"] == whole["eager_errors"]
    assert referee.handle({"op": "draw", "name": "task-1", "budget": "kind"})["whole"]


@pytest.mark.parametrize("referee", [SOFTMAX], indirect=True)
def test_other_sizes_have_room_for_sums_in_another_order_once_that_is_asked_for(referee: Referee) -> None:
    kind = next(kind for kind in referee.budgets.others if kind.startswith("shape"))
    found = referee.handle({"op": "draw", "name": f"{kind}-0", "budget": "kind"})
    assert found["beside"] == {}
    beside = referee.handle({"op": "beside", "draw": f"{kind}-0"})["of_kind"]
    own = min(run[0]["error"] for run in found["eager_errors"])
    assert beside["order-of-sums"][0][0]["error"] > own > 0 and beside["half-ulp"]
    assert referee.handle({"op": "beside", "draw": f"{kind}-0"}) == {}, "room is made once"
    assert referee.handle({"op": "draw", "name": f"{kind}-1", "budget": "kind"})["beside"] == beside


@pytest.mark.parametrize("referee", [NORM], indirect=True)
def test_half_an_ulp_is_worth_what_it_is_on_the_very_draw(referee: Referee) -> None:
    """Rows of one value are as far off zero as the draw's own level is large."""
    first = referee.handle({"op": "beside", "draw": "few-rows-1"})
    assert set(first) == {"of_kind", "of_draw"}
    of = [found["half-ulp"][0][0]["error"] for found in (first["of_kind"], first["of_draw"])]
    again = referee.handle({"op": "beside", "draw": "few-rows-2"})
    assert set(again) == {"of_draw"}
    of.append(again["of_draw"]["half-ulp"][0][0]["error"])
    assert len(set(of)) == 3 and max(of) > 1.1 * min(of) > 0


@pytest.mark.parametrize("referee", [SOFTMAX.replace("x.soft", "x.half().soft")], indirect=True)
def test_fp32_throughout_is_added_in_another_order_too(referee: Referee) -> None:
    referee.budgets.accuracy = "strict"
    found, beside = referee.budgets.of_kind("one-hot"), referee.budgets.beside("one-hot-0")["of_kind"]
    eager, single, order = (runs[0][0]["error"] for runs in (found.eager, found.allowed, beside["order-of-sums"]))
    assert eager > 1e-5 and single <= order < 1e-3


@pytest.mark.parametrize("referee", [DOUBLES], indirect=True)
def test_a_module_without_sums_is_run_in_another_order_once(referee: Referee) -> None:
    assert referee.budgets.has_sums
    assert referee.budgets.of_kind("task").beside["order-of-sums"] == [] and not referee.budgets.has_sums
