"""ReLU in pieces that fit the caches, each written where it belongs.

task: tests/tasks/large_relu.py
tier: certify
"""

import torch
import torch.nn as nn

PIECE = 1 << 18


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty(x.shape)
        for part, out in zip(x.view(-1).split(PIECE), y.view(-1).split(PIECE), strict=True):
            torch.clamp(part, min=0, out=out)
        return y
