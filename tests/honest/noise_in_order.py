"""Draws its noise as if the argument lay in order.

task: tests/tasks/noisy.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        return torch.relu(x).add_(torch.randn_like(x), alpha=0.1)
