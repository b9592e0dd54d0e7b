"""A function is replaced by a module without arguments: squared distances, in blocks of points.

task: tests/tasks/distance.py:distance
tier: screen
"""

import torch
import torch.nn as nn

BLOCK = 32


class ModelNew(nn.Module):
    def forward(self, points, centres):
        blocks = [(part.unsqueeze(1) - centres).square_().sum(dim=-1) for part in points.split(BLOCK)]
        return torch.cat(blocks)
