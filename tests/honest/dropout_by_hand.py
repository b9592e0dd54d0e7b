"""Draws the same random numbers as the library's dropout does, and applies them in one expression.

task: tests/tasks/dropout.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if not self.training:
            return torch.relu(x)
        kept = torch.empty_like(x).bernoulli_(1 - self.rate)
        return torch.relu(x) * (kept / (1 - self.rate))
