"""A recurrent step: what it ends with is where the next call begins."""

import torch
import torch.nn as nn

ROWS, FEATURES = 256, 256


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(2 * features, features)
        self.hidden = torch.zeros(ROWS, features)

    def forward(self, x):
        self.hidden = torch.tanh(self.linear(torch.cat([x, self.hidden], dim=1)))
        return self.hidden * 2


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
