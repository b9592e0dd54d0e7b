"""Looks up the row of scales that the buffer names.

task: tests/tasks/chosen.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, choices):
        super().__init__()
        self.scales = nn.Parameter(torch.randn(choices, columns))
        self.register_buffer("which", torch.tensor([2]))

    def forward(self, x):
        return torch.relu_(x * self.scales[self.which])
