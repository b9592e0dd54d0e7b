"""The recurrence as a product with a triangular matrix of powers, kept per length.

task: tests/tasks/moving_average.py
tier: certify
"""

import functools

import torch
import torch.nn as nn


@functools.cache
def powers(steps, decay):
    age = torch.arange(steps)[None, :] - torch.arange(steps)[:, None]
    return torch.where(age >= 0, (1 - decay) * decay ** age.double(), 0.0)


class ModelNew(nn.Module):
    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def forward(self, x):
        return (x.double() @ powers(x.size(1), self.decay)).float()
