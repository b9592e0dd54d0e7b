"""torch's functions that no trace holds as torch writes them, in operators that it holds, while a module is traced.

`fill_diagonal_` writes through a strided view of its own, which torch refuses of a tensor that is a view already; vmap puts the axis
of its results elsewhere than in front by an operator that export takes for a constant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._functorch import vmap

own_remove = vmap._remove_batch_dim


def fill_diagonal_(self: torch.Tensor, fill_value: Any, wrap: bool = False) -> torch.Tensor:
    """Through views of diagonals; `wrap`: again behind each square of a tall matrix, and a row left out."""
    step = self.shape[1] + 1 if self.dim() == 2 else 0
    starts = range(0, self.shape[0], step) if wrap and step else (0,)
    for start in starts:
        part = self[start:] if start else self
        for _ in range(part.dim() - 1):
            part = part.diagonal(0, 0, -1)
        part.fill_(fill_value)
    return self


def removed(batched: torch.Tensor, level: int, size: int, axis: int) -> torch.Tensor:
    """The results of vmap in a row, and their axis moved then."""
    in_front = own_remove(batched, level, size, 0)
    return in_front.movedim(0, axis) if axis else in_front


@contextmanager
def in_plainer_operators() -> Iterator[None]:
    torch.Tensor.fill_diagonal_ = fill_diagonal_  # type: ignore[method-assign]
    vmap._remove_batch_dim = removed
    try:
        yield
    finally:
        del torch.Tensor.fill_diagonal_  # the one below it is torch's
        vmap._remove_batch_dim = own_remove
