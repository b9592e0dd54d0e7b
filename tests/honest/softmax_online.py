"""One pass over blocks of columns that keeps a running maximum and a rescaled running sum.

task: tests/tasks/wide_softmax.py
tier: screen
"""

import torch
import torch.nn as nn

BLOCK = 4096


class ModelNew(nn.Module):
    def forward(self, x):
        top = torch.full_like(x[:, :1], float("-inf"))
        total = torch.zeros_like(top)
        for block in x.split(BLOCK, dim=-1):
            higher = torch.maximum(top, block.amax(dim=-1, keepdim=True))
            total = total * torch.exp(top - higher) + torch.exp(block - higher).sum(dim=-1, keepdim=True)
            top = higher
        return torch.exp(x - top) / total
