"""A linear layer, rounded to integers: eager itself is off by one where a value lies near a half."""

import torch
import torch.nn as nn

ROWS, FEATURES = 512, 256


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.round(self.linear(x) * 4096).to(torch.int64)


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
