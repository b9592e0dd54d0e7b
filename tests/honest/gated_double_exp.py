"""Another way to a sigmoid, in double precision.

task: tests/tasks/gated_double.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x / (1 + torch.exp(-1.5 * x)) + 0.5
