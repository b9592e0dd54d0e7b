"""Computes into a padded buffer and returns the part that counts: right shape, wider stride, nothing shared.

task: tests/tasks/gated.py
tier: screen
"""

import torch
import torch.nn as nn

PADDING = 16


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.size(0), x.size(1) + PADDING)[:, : x.size(1)]
        y.copy_(x)
        return y.mul_(1.5).sigmoid_().mul_(x).add_(0.5)
