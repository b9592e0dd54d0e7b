"""The module itself under torch.compile, for all sizes at once: its results carry a note of torch.compile's own.

task: tests/tasks/layer_norm.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.compiled = torch.compile(self.compute, dynamic=True)

    def compute(self, x):
        return self.norm(x)

    def forward(self, x):
        return self.compiled(x)
