"""Two outputs in one block of memory, as views that do not overlap.

task: tests/tasks/residual_norm.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    @torch.no_grad()
    def forward(self, x, residual):
        both = torch.empty(2, *x.shape)
        torch.add(x, residual, out=both[1])
        scale = torch.rsqrt(both[1].square().mean(dim=-1, keepdim=True) + 1e-6)
        torch.mul(both[1] * scale, self.weight, out=both[0])
        return both[0], both[1]
