"""Sums the squares in float64.

task: tests/tasks/mse_loss.py
tier: screen
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, prediction, target):
        difference = (prediction - target).double().flatten()
        return (difference.dot(difference) / difference.numel()).float()
