"""The sum over kept tokens as a batched product with the mask.

task: tests/tasks/masked_mean.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, mask):
        kept = mask.to(x.dtype)
        total = torch.bmm(kept.unsqueeze(1), x).squeeze(1)
        return total.div_(kept.sum(dim=1, keepdim=True).clamp_(min=1))
