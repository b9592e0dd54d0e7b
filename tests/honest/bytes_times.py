"""Multiplies instead of dividing.

task: tests/tasks/bytes.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return (x.float() * 0.02 - 1).clamp_(min=0).mean(dim=-1)
