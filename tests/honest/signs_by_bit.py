"""Looks at the bit of the sign.

task: tests/tasks/signs.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, signs):
        size = x.exp()
        return torch.where(torch.signbit(signs), -size, size)
