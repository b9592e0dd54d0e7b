"""Chooses between two products.

task: tests/tasks/slope.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, slope):
        return torch.where(x > 0, x * 2, x * (2 * slope))
