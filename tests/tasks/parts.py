"""Small terms beside large ones: a branch scaled by 1e-6, and columns of probabilities beside others a million times as large.
The mask and the gain are arguments, though they are the same in every draw."""

import torch
import torch.nn as nn

ROWS, FEATURES = 64, 96


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.branch = nn.Linear(features, features)
        self.scale = nn.Parameter(torch.full((features,), 1e-6))

    def forward(self, x, mask, gain):
        whole = torch.where(mask, x + self.scale * self.branch(x), 0.0) * gain
        return torch.cat([1e6 * whole, torch.sigmoid(x)], dim=1)


def get_inputs():
    mask = torch.arange(ROWS * FEATURES).view(ROWS, FEATURES) % 10 != 0
    return [torch.randn(ROWS, FEATURES), mask, torch.tensor(2.0)]


def get_init_inputs():
    return [FEATURES]
