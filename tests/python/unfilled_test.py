"""Modules without the values of their large weights: what has none, and what is built whole all the same."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

from mtmc.device.unfilled import built

WIDE = 1024


class Holder:
    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class Plain(nn.Module):
    """Built by a function that is given the module."""

    def __init__(self, build: Callable[[nn.Module], None]) -> None:
        super().__init__()
        build(self)


def attribute(module: nn.Module) -> None:
    module.net = nn.Linear(WIDE, WIDE)
    module.packed = module.net.weight.detach().clone()


def random_attribute(module: nn.Module) -> None:
    module.mask = torch.rand(WIDE, WIDE)


def hidden(module: nn.Module) -> None:
    module.net = nn.Linear(WIDE, WIDE)
    module.holder = Holder(module.net.weight.detach() * 2)


def number(module: nn.Module) -> None:
    module.net = nn.Linear(WIDE, WIDE)
    module.scale = float(module.net.weight.abs().max())


def transient(module: nn.Module) -> None:
    module.register_buffer("table", torch.randn(WIDE, WIDE).sign(), persistent=False)


@pytest.mark.parametrize("build", [attribute, random_attribute, hidden, number, transient], ids=lambda b: b.__name__)
def test_what_keeps_something_beside_its_state_is_built_whole(build: Callable[[nn.Module], None]) -> None:
    model, lacking = built(lambda: Plain(build))
    assert lacking == set()
    assert all(float(value.abs().max()) > 0 for value in model.state_dict().values())


def alias(module: nn.Module) -> None:
    module.net = nn.Linear(WIDE, WIDE)
    module.view = module.net.weight.detach().view(-1)


def scaled(module: nn.Module) -> None:
    module.table = nn.Parameter(torch.randn(WIDE, WIDE) * 0.02)


def truncated(module: nn.Module) -> None:
    module.table = nn.Parameter(torch.empty(WIDE, WIDE))
    nn.init.trunc_normal_(module.table, std=0.02)
    module.offsets = nn.Parameter(torch.arange(float(WIDE * WIDE)))


def copied(module: nn.Module) -> None:
    module.net = nn.Linear(WIDE, WIDE)
    module.other = copy.deepcopy(module.net)


@pytest.mark.parametrize(
    ("build", "names"),
    [(alias, {"net.weight"}), (copied, {"net.weight", "other.weight"}), (scaled, {"table"}), (truncated, {"table"})],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_large_weights_lack_their_values(build: Callable[[nn.Module], None], names: set[str]) -> None:
    model, lacking = built(lambda: Plain(build))
    assert lacking == names
    if build is copied:
        assert model.other.weight.data_ptr() != model.net.weight.data_ptr()
    if build is truncated:
        assert torch.equal(model.offsets.detach(), torch.arange(float(WIDE * WIDE)))


def test_small_modules_are_drawn_and_what_nobody_gives_too() -> None:
    torch.manual_seed(3)
    small, lacking = built(lambda: nn.Linear(8, 8))
    torch.manual_seed(3)
    assert not lacking and torch.equal(small.weight, nn.Linear(8, 8).weight)
    assert built(lambda: nn.Linear(WIDE, WIDE), given=["bias"])[1] == set()
    assert built(lambda: nn.Linear(WIDE, WIDE), given=["w", "b"])[1] == {"weight"}  # by order
