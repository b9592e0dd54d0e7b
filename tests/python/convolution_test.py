"""Convolutions by their definition, for the truth: what torch's own operator returns."""

from __future__ import annotations

import random

import pytest
import torch

from mtmc.referee import convolution


@pytest.mark.parametrize("columns", [1, 3000, 1 << 27])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_it_is_torchs(dims: int, transposed: bool, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any numbers of windows that are laid out at a time."""
    monkeypatch.setattr(convolution, "COLUMNS", columns)
    chosen = random.Random(dims)
    for _ in range(12):
        groups = chosen.choice([1, 2, 4])
        inner, outer = groups * chosen.randint(1, 3), groups * chosen.randint(1, 2)
        kernel, stride, dilation, padding = (
            [chosen.randint(a, b) for _ in range(dims)] for a, b in ((1, 4), (1, 4), (1, 3), (0, 3))
        )
        more = [chosen.randrange(max(s, d)) if transposed else 0 for s, d in zip(stride, dilation, strict=True)]
        x = torch.randn(2, inner, *(chosen.randint(10, 13) for _ in range(dims)), dtype=torch.float64)
        shape = (inner, outer // groups) if transposed else (outer, inner // groups)
        weight, bias = torch.randn(*shape, *kernel, dtype=torch.float64), torch.randn(outer, dtype=torch.float64)
        arguments = x, weight, chosen.choice([None, bias]), stride, padding, dilation, transposed, more, groups
        found, wanted = convolution.convolution(*arguments), torch.ops.aten.convolution(*arguments)
        assert found.shape == wanted.shape and torch.allclose(found, wanted, rtol=1e-12, atol=1e-11)
