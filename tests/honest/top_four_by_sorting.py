"""The first four of a whole sort.

task: tests/tasks/top_four.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        values, order = torch.sort(x, dim=-1, descending=True)
        return torch.return_types.topk((values[..., :4].contiguous(), order[..., :4].contiguous()))
