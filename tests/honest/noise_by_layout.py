"""Draws its noise in the order in which the argument lies.

task: tests/tasks/noisy.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.clamp(x, min=0).add_(torch.randn_like(x), alpha=0.1)
