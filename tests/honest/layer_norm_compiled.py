"""The module itself under torch.compile.

task: tests/tasks/layer_norm.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.compiled = torch.compile(self.compute)

    def compute(self, x):
        return self.norm(x)

    def forward(self, x):
        return self.compiled(x)
