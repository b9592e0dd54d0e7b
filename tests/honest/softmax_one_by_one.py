"""Adds the terms of a row one after the other.

task: tests/tasks/softmax.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        terms = torch.exp(x - x.amax(dim=-1, keepdim=True))
        total = torch.zeros_like(terms[..., 0])
        for column in terms.unbind(-1):
            total = total + column
        return terms / total.unsqueeze(-1)
