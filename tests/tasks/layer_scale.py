"""A residual branch that begins at a millionth of its size, as in deep vision transformers."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, FEATURES, HIDDEN = 256, 128, 512


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, features)
        self.scale = nn.Parameter(1e-6 * torch.ones(features))

    def forward(self, x):
        return x + self.scale * self.down(F.gelu(self.up(x)))


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES, HIDDEN]
