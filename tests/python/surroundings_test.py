"""What surrounds a candidate in a program, as a guest arranges it and looks after it."""

from __future__ import annotations

import random
import warnings

import numpy
import torch

from mtmc.device.random_state import other_random_states
from mtmc.guest.surroundings import another, elsewhere, operators


def test_another_program_records_gradients_or_has_more_threads() -> None:
    threads = torch.get_num_threads()
    with torch.no_grad():
        x, indices = torch.ones(3), torch.arange(3)
        with elsewhere({"gradients": True, "threads": 0}, [x, indices]):
            assert torch.is_grad_enabled() and torch.get_num_threads() == threads
            assert (2 * x).requires_grad and not indices.requires_grad
        assert not x.requires_grad
        with elsewhere({"gradients": False, "threads": threads + 2}, [x]):
            assert not torch.is_grad_enabled() and torch.get_num_threads() == threads + 2 and not x.requires_grad
        with elsewhere(None, [x]):
            assert not torch.is_grad_enabled()
    assert torch.get_num_threads() == threads


def test_random_numbers_of_others_are_noticed() -> None:
    before = other_random_states()
    assert before == other_random_states()
    torch.rand(3)
    assert before == other_random_states(), "torch's have a rule of their own"
    numpy.random.rand()
    assert [name for name, state in other_random_states().items() if state != before[name]] == ["numpy"]
    random.random()  # a seed could be the one that another test gave
    assert [name for name, state in other_random_states().items() if state != before[name]] == ["Python", "numpy"]


def test_an_operator_that_somebody_replaces_is_named() -> None:
    before = operators()
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.impl("digamma", lambda x: x, "CPU")
    try:
        assert [name for name, calls in operators().items() if calls != before[name]] == ["aten::digamma"]
    finally:
        library._destroy()
    assert operators() == before


def test_what_has_no_copy_is_done_without() -> None:
    model = torch.nn.Linear(2, 2)
    copied = another(model, "copy", lambda: model)
    assert copied is not None and copied is not model and torch.equal(copied.weight, model.weight)
    assert another(model, "new", lambda: model) is model
    model.lines = (line for line in "ab")
    assert another(model, "copy", lambda: model) is None
