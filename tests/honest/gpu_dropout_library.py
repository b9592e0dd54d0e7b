"""Torch's dropout, as it is.

task: tests/tasks/dropout.py
tier: screen
needs: cuda
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        return torch.nn.functional.dropout(x.clamp_min(0), self.rate, True)
