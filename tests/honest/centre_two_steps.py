"""Takes the mean as a product with a vector of ones.

task: tests/tasks/centre.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        mean = x.double().sum(dim=1, keepdim=True) / x.size(1)
        return torch.sub(x, mean.float())
