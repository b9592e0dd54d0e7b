"""Keeps a transposed copy of the weights, and compares all of them with those it was made of before it is used.

task: tests/tasks/linear_gelu.py
tier: certify
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.packed, self.packed_from = None, None

    def forward(self, x):
        weight = self.linear.weight.detach()
        if self.packed_from is None or not torch.equal(self.packed_from, weight):
            self.packed, self.packed_from = weight.t().contiguous(), weight.clone()
        return F.gelu(torch.addmm(self.linear.bias, x, self.packed))
