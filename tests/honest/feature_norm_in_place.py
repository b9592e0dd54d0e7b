"""Works in its own temporary, in place, after one pass for the mean and one for the squares.

task: tests/tasks/feature_norm.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = x - x.mean(dim=-1, keepdim=True)
        size = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
        return y.mul_(size.square_().div_(x.size(-1)).add_(1e-5).rsqrt_())
