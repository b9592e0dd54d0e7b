"""Works in place, on a buffer that it allocates in every call.

task: tests/tasks/softmax.py
tier: screen
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = x - x.amax(dim=-1, keepdim=True)
        y.exp_()
        return y.div_(y.sum(dim=-1, keepdim=True))
