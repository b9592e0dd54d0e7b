"""The feed-forward block of a transformer: linear, GELU in its tanh form written out by hand, linear."""

import math

import torch
import torch.nn as nn

TOKENS, FEATURES, HIDDEN = (16384, 1024, 4096) if torch.cuda.is_available() else (512, 256, 1024)


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, features)

    def gelu(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))

    def forward(self, x):
        return self.down(self.gelu(self.up(x)))


def get_inputs():
    return [torch.randn(TOKENS, FEATURES)]


def get_init_inputs():
    return [FEATURES, HIDDEN]
