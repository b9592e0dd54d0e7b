"""A product and its batch norm in train mode: running statistics are part of the answer."""

import torch
import torch.nn as nn

ROWS, FEATURES = 256, 512


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x):
        return torch.relu(self.norm(self.linear(x)))


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
