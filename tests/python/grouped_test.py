"""Shapes of grouped products in a trace."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import FakeTensorMode

from mtmc.trace.grouped import grouped_products

SHAPES = {"rows": ([24, 8], [3, 8, 16]), "columns": ([3, 8, 16], [16, 24]), "terms": ([8, 24], [24, 16])}


@pytest.mark.parametrize("groups", [*SHAPES, "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_they_are_those_of_the_product_itself(groups: str, dtype: torch.dtype) -> None:
    a, b = (torch.randn(shape).to(dtype) for shape in SHAPES.get(groups, ([3, 4, 8], [3, 8, 16])))
    ends = None if groups == "none" else torch.tensor([8, 16, 24], dtype=torch.int32)
    eager = torch._grouped_mm(a, b, offs=ends)
    with grouped_products(), FakeTensorMode() as mode:
        traced = torch._grouped_mm(
            *map(mode.from_tensor, (a, b)), offs=ends if ends is None else mode.from_tensor(ends)
        )
    assert (traced.shape, traced.stride(), traced.dtype) == (eager.shape, eager.stride(), eager.dtype)


def test_they_are_forgotten_afterwards() -> None:
    before = dict(fake_impls.op_implementations_dict)
    with grouped_products():
        assert fake_impls.op_implementations_dict != before
    assert fake_impls.op_implementations_dict == before
