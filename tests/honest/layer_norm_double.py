"""Computes in float64 and rounds once at the end: more exact than eager.

task: tests/tasks/layer_norm.py
tier: screen
"""

import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        norm = self.norm
        return F.layer_norm(
            x.double(), norm.normalized_shape, norm.weight.double(), norm.bias.double(), norm.eps
        ).float()
