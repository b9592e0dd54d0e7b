"""Attention over blocks of keys with a running maximum, never the whole score matrix.

task: tests/tasks/attention.py
tier: screen
"""

import torch
import torch.nn as nn

BLOCK = 16


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        q = q * q.size(-1) ** -0.5
        top = torch.full_like(q[..., :1], float("-inf"))
        total, y = torch.zeros_like(top), torch.zeros_like(q)
        for keys, values in zip(k.split(BLOCK, dim=-2), v.split(BLOCK, dim=-2), strict=True):
            scores = q @ keys.transpose(-2, -1)
            higher = torch.maximum(top, scores.amax(dim=-1, keepdim=True))
            weights, shrink = torch.exp(scores - higher), torch.exp(top - higher)
            total = total * shrink + weights.sum(dim=-1, keepdim=True)
            y = y * shrink + weights @ values
            top = higher
        return y / total
