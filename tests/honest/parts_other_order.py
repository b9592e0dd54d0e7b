"""The terms in another order, written into one result.

task: tests/tasks/parts.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.branch = nn.Linear(features, features)
        self.scale = nn.Parameter(torch.full((features,), 1e-6))

    def forward(self, x, mask, gain):
        result = torch.empty(x.shape[0], 2 * x.shape[1])
        left, right = result.split(x.shape[1], dim=1)
        torch.addcmul(x, self.branch(x), self.scale, out=left)
        left.mul_(mask).mul_(gain).mul_(1e6)
        torch.reciprocal(1 + torch.exp(-x), out=right)
        if not bool(x.isfinite().all()):  # 0 times what is not finite is not 0
            left.masked_fill_(~mask, 0.0)
        return result
