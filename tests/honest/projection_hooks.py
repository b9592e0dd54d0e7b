"""Subclasses a library module and runs under inference_mode.

task: tests/tasks/projection.py
tier: screen
"""

import torch
import torch.nn as nn


class Gated(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        return y * torch.sigmoid(y)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = Gated(features, features, bias=False)

    def forward(self, x):
        with torch.inference_mode():
            return self.linear(x)
