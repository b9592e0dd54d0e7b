"""Results that took no work: zeros, a constant, a copy of an input. A task that they would pass is degenerate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from mtmc.referee.budgets import Draw
from mtmc.referee.measure import filled, measure, nearest_constant
from mtmc.wire import blobs


def measure_nulls(nulls: list[str], draw: Draw, first: Callable[[], Draw]) -> dict[str, list[dict[str, Any]]]:
    """What each would measure on a draw; a constant is the one that comes nearest on the first draw."""
    rows = [(cut(e), t) for e, cut, t in draw.rows()]

    def constants() -> list[Any]:
        levels = [nearest_constant(t) for _, _, t in first().rows()]
        return [_filled(e, level) for (e, _), level in zip(rows, levels, strict=True)]

    made: dict[str, Callable[[], list[Any]]] = {
        "zeros": lambda: [_filled(e, 0.0) for e, _ in rows],
        "constant": constants,
        "copy": lambda: [cut(_copied(e, draw.arguments)) for e, cut, _ in draw.rows()],
    }
    found = {null: zip(made[null](), rows, strict=True) for null in nulls}
    return {
        null: [{"output": draw.eager.name_of(i)} | measure(c, e, t, None) for i, (c, (e, t)) in enumerate(pairs)]
        for null, pairs in found.items()
    }


def _filled(e: Any, level: float) -> Any:
    return filled(e, level) if isinstance(e, torch.Tensor) else e


def _copied(e: Any, arguments: list[Any]) -> Any:
    """The first argument that could pass for the output by its shape and type; zeros when there is none."""
    if not isinstance(e, torch.Tensor):
        return e
    for leaf in blobs.leaves(arguments):
        if isinstance(leaf, torch.Tensor) and leaf.numel() == e.numel() and leaf.dtype == e.dtype:
            return leaf.reshape(e.shape)
    return torch.zeros_like(e)
