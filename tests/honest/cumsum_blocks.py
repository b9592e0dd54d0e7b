"""Running sums within blocks, then the blocks' totals carried over in float64.

task: tests/tasks/cumsum.py
tier: screen
"""

import torch.nn as nn

BLOCK = 128


class ModelNew(nn.Module):
    def forward(self, x):
        blocks = x.reshape(x.size(0), -1, BLOCK)
        inside = blocks.double().cumsum(dim=-1)
        totals = inside[..., -1].cumsum(dim=-1)
        inside[:, 1:] += totals[:, :-1, None]
        return inside.view(x.shape).float()
