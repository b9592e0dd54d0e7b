"""Positions in metres and a score, in one tensor: three columns are large, all others are not."""

import torch
import torch.nn as nn

ROWS, FEATURES, LARGE = 256, 256, 3


class Model(nn.Module):
    def __init__(self, features, large):
        super().__init__()
        self.place = nn.Linear(features, large)
        self.score = nn.Linear(features, features)

    def forward(self, x):
        return torch.cat([1e9 * (2 + torch.tanh(self.place(x))), torch.sigmoid(self.score(x))], dim=1)


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES, LARGE]
