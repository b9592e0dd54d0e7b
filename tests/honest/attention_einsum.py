"""Attention with einsum, scaled before the product.

task: tests/tasks/attention.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        scores = torch.einsum("bhid,bhjd->bhij", q * q.size(-1) ** -0.5, k)
        return torch.einsum("bhij,bhjd->bhid", scores.softmax(dim=-1), v)
