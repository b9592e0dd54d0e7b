"""A learned weight for each of two groups of features, one of them almost off."""

import torch
import torch.nn as nn

ROWS, FEATURES = 256, 256


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.main, self.side = nn.Linear(features, features), nn.Linear(features, features)
        self.gate = nn.Parameter(torch.tensor([1.0, 1e-8]))

    def forward(self, x):
        return self.gate[0] * self.main(x) + self.gate[1] * torch.tanh(self.side(x))


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
