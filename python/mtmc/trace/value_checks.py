"""Losses and distributions of torch whose checks of their arguments' values no trace can hold: the same without the check."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.distributions import Distribution


def gaussian_nll_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    var: torch.Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> torch.Tensor:
    """torch's, where no variance is negative."""
    if not isinstance(var, torch.Tensor):
        var = var * torch.ones_like(input)
    if var.shape != input.shape and var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    var = var.clamp(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


@contextlib.contextmanager
def without_value_checks() -> Iterator[None]:
    original, validate = F.gaussian_nll_loss, Distribution._validate_args
    F.gaussian_nll_loss = gaussian_nll_loss
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        F.gaussian_nll_loss = original
        Distribution.set_default_validate_args(validate)
