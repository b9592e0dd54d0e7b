"""The recurrence by doubling: after step k every element holds the last 2**k terms. In float64, and causal even for NaN.

task: tests/tasks/moving_average.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def forward(self, x):
        y = (1 - self.decay) * x.double()
        shift = 1
        while shift < x.size(1):
            older = self.decay**shift * y[:, :-shift]
            y = y.clone()
            y[:, shift:] += older
            shift *= 2
        return y.float()
