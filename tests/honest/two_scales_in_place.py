"""Writes both groups of columns where they belong, without a concatenation.

task: tests/tasks/two_scales.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, large):
        super().__init__()
        self.place = nn.Linear(features, large)
        self.score = nn.Linear(features, features)

    def forward(self, x):
        large = self.place.out_features
        y = torch.empty(x.size(0), large + self.score.out_features)
        torch.sigmoid(self.score(x), out=y[:, large:])
        y[:, :large] = self.place(x).tanh_().add_(2).mul_(1e9)
        return y
