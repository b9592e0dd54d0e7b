"""Sorted by numpy, which keeps the order of equal numbers when it is asked to.

task: tests/tasks/stable_order.py
tier: certify
"""

import numpy as np
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.from_numpy(np.argsort(x.round().numpy(), axis=1, kind="stable"))
