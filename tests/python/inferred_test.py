"""Shapes of what torch infers none of in a trace: grouped products, CTC losses, least squares."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import FakeTensorMode

from mtmc.trace.shapes import shapes_inferred
from traced_modules import module_text
from tracing import traced

SHAPES = {"rows": ([24, 8], [3, 8, 16]), "columns": ([3, 8, 16], [16, 24]), "terms": ([8, 24], [24, 16])}


@pytest.mark.parametrize("groups", [*SHAPES, "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_those_of_a_product_are_its_own(groups: str, dtype: torch.dtype) -> None:
    a, b = (torch.randn(shape).to(dtype) for shape in SHAPES.get(groups, ([3, 4, 8], [3, 8, 16])))
    ends = None if groups == "none" else torch.tensor([8, 16, 24], dtype=torch.int32)
    eager = torch._grouped_mm(a, b, offs=ends)
    with shapes_inferred(), FakeTensorMode() as mode:
        traced = torch._grouped_mm(
            *map(mode.from_tensor, (a, b)), offs=ends if ends is None else mode.from_tensor(ends)
        )
    assert (traced.shape, traced.stride(), traced.dtype) == (eager.shape, eager.stride(), eager.dtype)


def test_they_are_forgotten_afterwards() -> None:
    before = dict(fake_impls.op_implementations_dict)
    with shapes_inferred():
        assert fake_impls.op_implementations_dict != before
    assert fake_impls.op_implementations_dict == before


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize(
    "shapes", [([3, 12, 4], [3, 12, 2]), ([12, 3], [12, 2]), ([3, 12, 4], [3, 12]), ([12, 3], [12]), ([3, 5], [3, 2])]
)
def test_those_of_least_squares_are_their_own(driver: str | None, shapes: tuple[list[int], list[int]]) -> None:
    a, b = map(torch.randn, shapes)
    eager = torch.linalg.lstsq(a, b, driver=driver)
    with shapes_inferred(), FakeTensorMode() as mode:
        traced = torch.linalg.lstsq(mode.from_tensor(a), mode.from_tensor(b), driver=driver)
    for ours, theirs in zip(traced, eager, strict=True):
        assert (ours.shape, ours.stride(), ours.dtype) == (theirs.shape, theirs.stride(), theirs.dtype)


@pytest.mark.parametrize("lengths", ["n, m", "(9, 7, 9), (4, 2, 3)"])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_ctc_losses_agree_with_eager(tmp_path: Path, lengths: str, reduction: str) -> None:
    inputs = "torch.randn(9, 3, 7).log_softmax(-1), torch.randint(1, 7, (3, 4)), torch.tensor([9, 7, 9]), torch.tensor([4, 2, 3])"
    text = module_text(
        f"return F.ctc_loss(x, y, {lengths}, reduction='{reduction}')", "", inputs, "x, y, n=None, m=None"
    )
    data = traced(tmp_path, text)
    assert data["checked"] and any("ctc_loss" in node["op"] for node in data["nodes"])
