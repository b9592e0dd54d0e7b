"""The same expression, scripted.

task: tests/tasks/gated.py
tier: certify
"""

import torch
import torch.nn as nn


@torch.jit.script
def gated(x):
    return x * torch.sigmoid(1.5 * x) + 0.5


class ModelNew(nn.Module):
    def forward(self, x):
        return gated(x)
