"""Registers its statistics in a method, under the names of the library's module, and updates them by hand.

task: tests/tasks/batch_norm.py
tier: certify
"""

import torch
import torch.nn as nn


class Statistics(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))
        self.begin(features)

    def begin(self, features):
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=0, correction=0)
        self.running_mean.mul_(0.9).add_(mean, alpha=0.1)
        self.running_var.mul_(0.9).add_(variance, alpha=0.1 * x.size(0) / (x.size(0) - 1))
        self.num_batches_tracked.add_(1)
        scale = torch.rsqrt(variance + 1e-5)
        return (x - mean).mul_(scale).mul_(self.weight).add_(self.bias)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = Statistics(features)

    def forward(self, x):
        return self.norm(x).relu_()
