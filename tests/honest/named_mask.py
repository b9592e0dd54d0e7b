"""Takes by name what the module takes by name.

task: tests/tasks/named_mask.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, width)

    def forward(self, x, scale=0.5, *, mask, bias=None, gain):
        return torch.softmax(torch.where(mask, -1e9, self.score(x) * scale), dim=-1) * gain
