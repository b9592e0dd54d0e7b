"""Returns a named tuple of its own, whose parts have the names that torch.sort gives them.

task: tests/tasks/sort_rows.py
tier: certify
"""

from typing import NamedTuple

import torch
import torch.nn as nn


class Sorted(NamedTuple):
    values: torch.Tensor
    indices: torch.Tensor


class ModelNew(nn.Module):
    def forward(self, x):
        indices = torch.argsort(x, dim=-1)
        return Sorted(x.gather(-1, indices), indices)
