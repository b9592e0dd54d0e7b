"""A stable order is one of those that ties allow; numbers are rounded in double.

task: tests/tasks/order.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.round().argsort(dim=1, stable=True), (x.double() * 1e6).round().int()
