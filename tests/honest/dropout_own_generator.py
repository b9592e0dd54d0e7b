"""Draws its mask from a generator of its own: not the mask of the library, but as good a one.

task: tests/tasks/dropout.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate, self.generator = rate, torch.Generator()
        self.generator.seed()

    def forward(self, x):
        kept = torch.empty_like(x).bernoulli_(1 - self.rate, generator=self.generator)
        return torch.relu(x) * (kept / (1 - self.rate))
