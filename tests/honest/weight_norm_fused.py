"""Divides the rows' lengths out of the weights in place, in a temporary of its own.

task: tests/tasks/weight_norm.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features_out, features_in))
        self.scale = nn.Parameter(torch.empty(features_out, 1))

    def forward(self, x):
        weight = self.scale * self.weight
        weight.div_(torch.linalg.vector_norm(self.weight, dim=1, keepdim=True)).tanh_()
        return x @ weight.t()
