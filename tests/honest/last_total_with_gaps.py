"""Returns a part of a larger tensor, as eager does: neither's rows follow one another in memory.

task: tests/tasks/last_total.py
tier: screen
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.cumsum(1).narrow(1, x.shape[1] - 1, 1).squeeze(1)
