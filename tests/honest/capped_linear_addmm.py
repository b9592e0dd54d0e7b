"""Fuses the bias into the product and clamps in place.

task: tests/tasks/capped_linear.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, cap):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.cap = cap

    @torch.no_grad()
    def forward(self, x):
        y = torch.addmm(self.linear.bias, x, self.linear.weight.t())
        return y.clamp_(-self.cap, self.cap)
