"""A max-pool as the maximum of nine shifted slices.

task: tests/tasks/maxpool.py
tier: screen
"""

import functools

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def forward(self, x):
        padded = F.pad(x, (1, 1, 1, 1), value=float("-inf"))
        height, width = (x.size(2) + 1) // 2, (x.size(3) + 1) // 2
        slices = [
            padded[:, :, i : i + 2 * height - 1 : 2, j : j + 2 * width - 1 : 2] for i in range(3) for j in range(3)
        ]
        return functools.reduce(torch.maximum, slices)
