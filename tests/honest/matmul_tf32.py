"""Rounds the factors to the ten bits of TF32, where that is allowed.

task: tests/tasks/matmul.py
tier: certify
accuracy: tf32
"""

import torch
import torch.nn as nn


def tf32(x):
    rounded = ((x.contiguous().view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return tf32(a) @ tf32(b)
