"""Two ways of computing, chosen by size, as libraries do: blocks that fit the cache for large inputs.

task: tests/tasks/gated.py
tier: screen
"""

import torch
import torch.nn as nn

LARGE, ROWS = 1 << 18, 64


class ModelNew(nn.Module):
    def forward(self, x):
        if x.numel() < LARGE:
            return x * torch.sigmoid(1.5 * x) + 0.5
        y = torch.empty(x.shape)
        for part, result in zip(x.split(ROWS), y.split(ROWS), strict=True):
            torch.mul(part, 1.5, out=result)
            result.sigmoid_().mul_(part).add_(0.5)
        return y
