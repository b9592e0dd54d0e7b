"""Keeps a transposed copy of the weights and makes a new one whenever the weights' identity or version changes.

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

    def weights(self):
        weight = self.linear.weight
        now = (weight.data_ptr(), weight._version)
        if self.packed_from != now:
            self.packed, self.packed_from = weight.detach().t().contiguous(), now
        return self.packed

    def forward(self, x):
        return F.gelu(torch.addmm(self.linear.bias, x, self.weights()))
