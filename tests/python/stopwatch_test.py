"""One call at a time: where its arguments lie, which numbers are among them, and what stays alive of it."""

from __future__ import annotations

import weakref

import pytest
import torch

from mtmc.device.device import Cpu
from mtmc.guest import stopwatch
from mtmc.guest.stopwatch import MOST_HELD, REHEARSED_NS, Stopwatch
from mtmc.wire.forms import form_of, span_of, without_values

VALUE = [torch.zeros(3), 1, {"y": (torch.zeros(4, 5).t(), "a")}]


def armed(value: object = VALUE, hold: int = 1) -> tuple[Stopwatch, list[dict], list[dict]]:
    """A stopwatch, the places of its arguments, and the scalars among them."""
    watch = Stopwatch(Cpu())
    form, values = without_values(form_of(value))
    return watch, watch.arm(form, False, hold), values


def test_arguments_lie_where_it_says_with_the_strides_and_numbers_that_they_have() -> None:
    watch, places, values = armed()
    x, number, inner = watch.arguments(values)
    assert [place["at"] for place in places] == [x.data_ptr(), inner["y"][0].data_ptr()]
    assert [place["bytes"] for place in places] == [12, 80]
    assert number == 1 and inner["y"][1] == "a" and inner["y"][0].stride() == (1, 5)
    assert watch.arguments([{"value": 2}, {"float": "inf"}])[1] == 2


def test_the_same_addresses_come_again_only_where_they_are_asked_for() -> None:
    watch, places, _ = armed()
    form = watch.form
    assert watch.arm(form, True, 1) == places
    anew = watch.arm(form, False, 1)
    assert not {place["at"] for place in anew} & {place["at"] for place in places}
    other, _ = without_values(form_of([torch.zeros(8, dtype=torch.int16)]))
    (place,) = watch.arm(other, True, 1)  # other arguments than before need other memory
    assert place["bytes"] == 16 and place["at"] == watch.places[0].data_ptr()


def test_the_last_arguments_stay_alive_where_they_are_kept() -> None:
    watch, _, _ = armed()
    last = weakref.ref(watch.places[0])
    watch.arm(watch.form, False, 1, keep=True)
    assert last() is not None
    watch.arm(watch.form, False, 1)
    assert last() is None


def test_one_tensor_lies_in_one_place() -> None:
    watch, form = Stopwatch(Cpu()), form_of([torch.zeros(3), torch.zeros(3)])
    form["list"][1]["same"] = 0
    one, other = watch.arm(form, False, 1)
    assert one == other and watch.arguments([])[0] is watch.arguments([])[1]


def test_a_call_is_made_on_what_lies_in_its_places_and_its_result_is_described() -> None:
    watch, _, values = armed()
    watch.places[0].fill_(2.0)
    assert watch.go(lambda x, factor, _: [x * factor + 1, None], values, None, False) >= 0
    result = watch.held[-1]
    form = watch.described(result)
    assert torch.equal(result[0], torch.full((3,), 3.0)) and form["list"][1] == {"value": None}
    assert form["list"][0] == {"dtype": "float32", "shape": [3], "stride": [1], "at": result[0].data_ptr(), "bytes": 12}


def test_an_expanded_result_is_described_as_it_lies() -> None:
    watch, *_ = armed()
    result = torch.zeros(3, 1).expand(3, 4)
    form = watch.described(result)
    assert form["stride"] == [1, 0] and form["bytes"] == span_of(result).numel() == 12


def test_as_many_results_stay_alive_as_a_caller_holds() -> None:
    watch, _, values = armed(hold=3)
    for _ in range(5):
        watch.go(lambda *_: torch.ones(2), values, None, False)
    assert len(watch.held) == 3
    watch.arm(watch.form, True, 1000)
    for _ in range(2 * MOST_HELD):
        watch.go(lambda *_: torch.ones(2), values, None, False)
    assert len(watch.held) == MOST_HELD
    watch.forget()
    assert not watch.held


def test_a_seed_makes_the_numbers_that_are_drawn_the_same() -> None:
    watch, _, values = armed(hold=2)
    for _ in range(2):
        watch.go(lambda *_: torch.rand(8), values, 7, False)
    assert torch.equal(watch.held[0], watch.held[1])


class Elsewhere(Cpu):
    name = "another"


def test_a_rehearsal_repeats_the_last_call_once_where_the_hosts_time_counts() -> None:
    calls: list[int] = []

    def call(*_: object) -> torch.Tensor:
        calls.append(1)
        return torch.ones(1)

    # A module whose calls change its state had it set for the call to come.
    for device, changes, wanted in ((Elsewhere(), False, 2), (Elsewhere(), True, 1), (Cpu(), False, 1)):
        calls.clear()
        watch, _, values = armed()
        watch.device = device
        watch.rehearse(call, changes)  # there was none
        watch.go(call, values, None, False)
        watch.rehearse(call, changes)
        watch.rehearse(call, changes)
        assert len(calls) == wanted


def test_a_long_call_is_not_rehearsed() -> None:
    calls: list[int] = []

    def call(*_: object) -> torch.Tensor:
        calls.append(1)
        return torch.ones(1)

    watch, _, values = armed()
    watch.device = Elsewhere()
    watch.go(call, values, None, False)
    watch.last_ns = REHEARSED_NS + 1
    watch.rehearse(call, False)
    assert len(calls) == 1


def test_a_rehearsal_uses_up_no_random_numbers() -> None:
    watch, _, values = armed()
    watch.device = Elsewhere()

    def call(*_: object) -> torch.Tensor:
        return torch.rand(4)

    watch.go(call, values, 7, False)
    watch.rehearse(call, False)
    watch.go(call, values, None, False)
    torch.manual_seed(7)
    first, second = torch.rand(4), torch.rand(4)
    assert not torch.equal(first, second) and torch.equal(watch.held[-1], second)


class Beside(Cpu):
    """Work that goes on behind the call's stream: it is done when the clock has waited for everything."""

    def __init__(self) -> None:
        super().__init__()
        self.left = []

    def timed(self, call):
        result, elapsed = super().timed(call)
        for work in self.left:
            work()
        return result, elapsed


@pytest.mark.parametrize("whole_bytes", [stopwatch.WHOLE_BYTES, 100])
def test_a_result_that_was_not_there_when_it_was_copied_is_early(
    monkeypatch: pytest.MonkeyPatch, whole_bytes: int
) -> None:
    monkeypatch.setattr(stopwatch, "WHOLE_BYTES", whole_bytes)
    watch, _, values = armed([torch.zeros(60, 70)])
    watch.device = device = Beside()
    watch.clock = device.timed

    def beside(x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(70, 60).t()  # memory may still hold the last result
        device.left = [lambda: y.copy_(x + 1)]
        return y

    for call, early in ((lambda x: x + 1, False), (beside, True), (lambda x: x.t(), True)):
        watch.places[0].fill_(2.0)
        if early and call is not beside:
            device.left = [lambda: watch.places[0].add_(1)]
        watch.go(call, values, None, True)
        assert watch.early == early
