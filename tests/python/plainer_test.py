"""What torch cannot trace as torch writes it is traced, and agrees with eager."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch._functorch import vmap

from mtmc.trace.plainer import fill_diagonal_, in_plainer_operators
from traced_modules import module_text
from tracing import traced

CASES = {
    "a view": "y = torch.stack([x, -x])\ny[0].fill_diagonal_(0.0)\nreturn y",
    "in a loop": "y = torch.stack([x @ x.t()] * 3)\nfor one in y:\n    one.fill_diagonal_(float('-inf'))\nreturn y.softmax(-1)",
    "turned": "y = (x @ x.t()).t()\ny.fill_diagonal_(-1e9)\nreturn y.softmax(1)",
    "a mask": "return x.sum() * torch.ones(6, 6, dtype=torch.bool).fill_diagonal_(False)",
    "a result's axis": "return torch.vmap(lambda v: (v @ v, v * 2), in_dims=1, out_dims=(0, 1))(x)",
    "the last axis": "return torch.func.vmap(lambda v: v.softmax(-1), in_dims=-1, out_dims=-1)(x)",
    "within another": "f = torch.vmap(torch.dot, in_dims=(None, 0))\nreturn torch.vmap(f, in_dims=(0, None), out_dims=1)(x, x)",
    "none": "return torch.vmap(lambda v: (v * 2, torch.ones(())), out_dims=(1, None))(x)",
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_traced(tmp_path: Path, name: str) -> None:
    assert traced(tmp_path, module_text(CASES[name]))["checked"]


@pytest.mark.parametrize("shape", [(4, 4), (9, 3), (3, 5), (3, 3, 3)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_are_filled_as_torch_fills_them(shape: tuple[int, ...], wrap: bool) -> None:
    ours, theirs = torch.zeros(shape), torch.zeros(shape)
    assert fill_diagonal_(ours, 2.0, wrap) is ours
    assert torch.equal(ours, theirs.fill_diagonal_(2.0, wrap))


def test_torchs_own_are_there_again() -> None:
    own = torch.Tensor.fill_diagonal_, vmap._remove_batch_dim
    with in_plainer_operators():
        assert torch.Tensor.fill_diagonal_ is fill_diagonal_
    assert own == (torch.Tensor.fill_diagonal_, vmap._remove_batch_dim)
