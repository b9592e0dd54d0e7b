"""torch.compile of the whole forward.

task: tests/tasks/layer_scale.py
tier: certify
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.compile
def branch(x, up, up_bias, down, down_bias, scale):
    return torch.addcmul(x, scale, F.linear(F.gelu(F.linear(x, up, up_bias)), down, down_bias))


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, features)
        self.scale = nn.Parameter(torch.empty(features))

    def forward(self, x):
        return branch(x, self.up.weight, self.up.bias, self.down.weight, self.down.bias, self.scale)
