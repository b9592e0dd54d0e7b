"""Adds one tensor of the list after the other where the sum lies.

task: tests/tasks/several.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, xs):
        total = xs[0].clone()
        for x in xs[1:]:
            total += x
        return torch.softmax(total, dim=-1)
