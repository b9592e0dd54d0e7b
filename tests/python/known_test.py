"""Tensors among a torch function's arguments, as the tracer looks for them."""

from __future__ import annotations

import torch

from mtmc.trace.known import tensors_of


def test_tensors_are_found_wherever_arguments_hold_them() -> None:
    a, b, c, d = (torch.empty(n) for n in range(4))
    found = tensors_of((a, 1, [b, (c,), "x"], None, torch.Size([2, 3])), {"out": {"d": d}, "dim": 0})
    assert sorted(map(id, found)) == sorted(map(id, (a, b, c, d)))
    assert tensors_of((), {}) == []
