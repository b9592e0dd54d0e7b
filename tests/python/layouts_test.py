"""Draws whose values are the task's own, and lie elsewhere; and what else a program may pass that the task's own draws are not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from mtmc.referee.draws import make_draw
from mtmc.wire.forms import ALIGNED, form_of, make_all, tell_of_memory


def made(kind: str, *inputs: Any) -> list[Any]:
    task = SimpleNamespace(make_inputs=lambda seed: list(inputs), where=torch.device("cpu"))
    return make_draw(task, 7, kind, "0")


def same(one: list[Any], other: list[Any]) -> bool:
    return all(map(torch.equal, one, other))


def test_tensors_begin_beside_a_line_whatever_their_type() -> None:
    inputs = [torch.randn(3, 4), torch.arange(6), torch.ones(5, dtype=torch.bool)]
    found = made("unaligned", *inputs)
    assert same(found, inputs) and all(x.is_contiguous() for x in found)
    assert [x.data_ptr() % ALIGNED for x in found] == [4, 8, 1]


def test_leading_axes_lie_in_another_turn() -> None:
    inputs = [torch.randn(2, 3, 4, 5), torch.randn(4, 5)]
    x, y = found = made("reordered", *inputs)
    assert same(found, inputs) and y.is_contiguous()
    assert not x.is_contiguous() and x.stride(3) == 1
    assert sorted(x.stride()) == [1, *sorted(x.stride())[1:]] and sorted(x.stride())[-1] < x.numel()


def test_all_tensors_lie_in_other_orders_whatever_their_type() -> None:
    inputs = [torch.randn(3, 4), torch.arange(12).view(3, 4), torch.ones(3, 4, dtype=torch.bool)]
    strides = {"non-contiguous": (8, 2), "transposed": (1, 3), "gapped": (8, 1)}
    for kind, stride in strides.items():
        found = made(kind, *inputs)
        assert same(found, inputs) and all(x.stride() == stride for x in found)
    (x,) = found = made("channels-last", torch.randn(2, 3, 4, 5))
    assert x.is_contiguous(memory_format=torch.channels_last) and x.shape == (2, 3, 4, 5)


def test_tensors_that_are_alike_are_one() -> None:
    x, y, z, i, j = made("one-tensor", torch.randn(3), torch.randn(3), torch.randn(4), torch.arange(3), torch.arange(3))
    assert x is y and x is not z and i is not j


def test_a_form_tells_where_tensors_lie() -> None:
    x, y = made("unaligned", torch.randn(3), torch.randn(4).double())
    form = form_of([x, [y, x]])
    tell_of_memory(form, [x, y, x])
    one, other, again = make_all(form)
    assert one.data_ptr() % ALIGNED == 4 and other.data_ptr() % ALIGNED == 8 and again is one
    assert one.shape == x.shape and other.dtype == y.dtype
    plain = form_of([torch.randn(3), torch.randn(3)])
    tell_of_memory(plain, [torch.randn(3), torch.randn(3)])
    assert not any("same" in part or "behind" in part for part in plain["list"])


def test_rows_are_infinite_in_one_tensor() -> None:
    found = made("infinite-rows", torch.randn(40, 4), torch.randn(40, 4))
    rows = [x.isneginf().all(dim=1).sum().item() for x in found]
    assert sorted(rows)[0] == 0 and 1 <= sorted(rows)[1] <= 3
    assert sum(x.isneginf().sum().item() for x in found) == 4 * max(rows)
    (row,) = made("infinite-rows", torch.randn(1, 4))
    assert row.isfinite().all(), "nothing would be left"


def test_rows_of_truth_values_are_alike() -> None:
    mask, x = made("alike-rows", torch.arange(96).reshape(8, 12) % 3 == 0, torch.randn(3))
    assert (~mask.any(dim=1)).sum() == 2 and mask.all(dim=1).sum() == 2 and x.dtype == torch.float32
    (line,) = made("alike-rows", torch.tensor([True, False]))
    assert not line.any()


def test_exponents_differ_within_a_row() -> None:
    x = torch.ones(4, 4096)
    (found,) = made("uneven", x)
    assert found.min() < 2**-9 and found.max() > 2**9 and (found > 0).all()
