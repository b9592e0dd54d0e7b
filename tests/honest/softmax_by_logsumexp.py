"""Another formula with the same value: exp(x - logsumexp(x)).

task: tests/tasks/wide_softmax.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        top = x.amax(dim=-1, keepdim=True)
        shifted = x - top
        return torch.exp(shifted - shifted.exp().sum(dim=-1, keepdim=True).log())
