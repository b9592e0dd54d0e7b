"""A linear layer and a GELU."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, FEATURES_IN, FEATURES_OUT = 256, 128, 256


class Model(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        return F.gelu(self.linear(x))


def get_inputs():
    return [torch.randn(ROWS, FEATURES_IN)]


def get_init_inputs():
    return [FEATURES_IN, FEATURES_OUT]
