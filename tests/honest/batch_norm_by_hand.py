"""Batch norm written out, running statistics and the count of batches included.

task: tests/tasks/batch_norm.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)

    @torch.no_grad()
    def forward(self, x):
        norm, rows = self.norm, x.size(0)
        mean, variance = x.mean(dim=0), x.var(dim=0, correction=0)
        if self.training:
            norm.running_mean.mul_(1 - norm.momentum).add_(mean, alpha=norm.momentum)
            norm.running_var.mul_(1 - norm.momentum).add_(variance, alpha=norm.momentum * rows / (rows - 1))
            norm.num_batches_tracked += 1
        else:
            mean, variance = norm.running_mean, norm.running_var
        return torch.relu((x - mean) * (torch.rsqrt(variance + norm.eps) * norm.weight) + norm.bias)
