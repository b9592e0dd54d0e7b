"""Packs the weights in the first call, where the user says that they will not change.

task: tests/tasks/linear_gelu.py
tier: certify
weights: frozen
"""

import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.linear.weight.detach().t().contiguous()
        return F.gelu(x @ self.packed + self.linear.bias)
