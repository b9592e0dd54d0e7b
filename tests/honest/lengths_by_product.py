"""Sums as a product with the mask.

task: tests/tasks/lengths.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        keep = (torch.arange(x.shape[1]) < lengths[:, None]).to(x.dtype) / lengths.clamp(min=1).sqrt()[:, None]
        return torch.bmm(keep[:, None], x)[:, 0]
