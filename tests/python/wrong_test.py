"""Which elements of a refused result are named."""

import math

import pytest
import torch

from mtmc.device.memory import POISON
from mtmc.referee.measure import PIECE
from mtmc.referee.ties import Ties
from mtmc.referee.wrong import first_wrong


def named(c, e, beyond=0.01, relative=False, told=True, ties=None):
    return first_wrong(c, e, e.double() if e.is_floating_point() else e, ties, beyond, relative, told)


def changed(e: torch.Tensor, **places: float) -> torch.Tensor:
    c = e.clone()
    for place, value in places.items():
        c.view(-1)[int(place[1:])] = value
    return c


def test_one_wrong_element_is_named_with_what_it_should_be() -> None:
    e = torch.ones(4, 8)
    assert named(changed(e, _21=2.5), e) == ["[2, 5] is 2.5 instead of 1"]
    assert named(changed(e, _21=2.5), e, told=False) == ["[2, 5]"], "of other draws the place alone"
    assert named(changed(e, _21=1.005), e) == []
    assert named(torch.tensor(3.0), torch.tensor(1.0)) == ["[] is 3 instead of 1"]


def test_the_first_three_of_a_wrong_tail_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    e = torch.arange(40.0)
    c = e.clone()
    c[29:] = 0
    wanted = ["[29] is 0 instead of 29", "[30] is 0 instead of 30", "[31] is 0 instead of 31"]
    assert named(c, e) == wanted
    monkeypatch.setitem(PIECE, "cpu", 15)
    assert named(c, e) == wanted, "in pieces"


def test_what_errs_by_much_of_itself_is_found_beside_large_elements() -> None:
    e = torch.tensor([1000.0, 0.5, 0.0, 0.25])
    assert named(torch.tensor([1000.1, 0.0, 0.0, 0.25]), e, 0.25, relative=True) == ["[1] is 0 instead of 0.5"]


def test_what_is_not_finite_is_wrong_only_where_eager_has_something_else() -> None:
    e = torch.tensor([1.0, math.inf, math.nan, 2.0])
    c = torch.tensor([1.5, math.inf, math.nan, math.nan])
    assert named(c, e, None) == ["[3] is nan instead of 2"]
    assert named(c, e) == ["[0] is 1.5 instead of 1", "[3] is nan instead of 2"]


def test_elements_that_nobody_wrote_come_before_all_others() -> None:
    e = torch.ones(6)
    c = changed(e, _0=7)
    c.view(torch.uint8)[16:] = POISON
    assert named(c, e) == ["[4] was never written instead of 1", "[5] was never written instead of 1"]


def test_of_indices_those_that_point_to_another_value() -> None:
    values = torch.tensor([[3.0, 1.0, 3.0], [0.0, 5.0, 2.0]], dtype=torch.float64)
    e = torch.tensor([0, 1])
    assert named(torch.tensor([2, 2]), e, ties=Ties(values, 1)) == ["[1] is 2 instead of 1"], "the first is a tie"
    assert named(torch.tensor([2, 9]), e, ties=Ties(values, 1)) == ["[1] is 9 instead of 1"]
    assert named(torch.tensor([2, 2]), e) == ["[0] is 2 instead of 0", "[1] is 2 instead of 1"]


def test_complex_results_and_what_is_no_tensor() -> None:
    e = torch.zeros(3, dtype=torch.complex64)
    c = e.clone()
    c[1] = 2j
    assert first_wrong(c, e, e.to(torch.complex128), None, 0.1, False, True) == ["[1] is 0+2j instead of 0+0j"]
    assert first_wrong(3, 4, 4, None, 0.1, False, True) == []
