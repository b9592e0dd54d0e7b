"""The loss from one tensor of differences.

task: tests/tasks/linear_loss.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x, target):
        difference = torch.addmm(self.linear.bias - target, x, self.linear.weight.t())
        return difference.square_().mean()
