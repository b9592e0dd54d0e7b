"""Multiplies by the inverse root of the sum of squares.

task: tests/tasks/unit_rows.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x * x.square().sum(dim=1, keepdim=True).sqrt().clamp_min(1e-12).reciprocal()
