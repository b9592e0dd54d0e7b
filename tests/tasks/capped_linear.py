"""A linear layer whose result is capped at values that ordinary inputs never reach."""

import torch
import torch.nn as nn

ROWS, FEATURES = 256, 128


class Model(nn.Module):
    def __init__(self, features, cap):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.cap = cap

    def forward(self, x):
        return torch.clamp(self.linear(x), min=-self.cap, max=self.cap)


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES, 50.0]
