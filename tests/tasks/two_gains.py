"""Two gains that are alike to begin with, as those of all normalisations are."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, FEATURES = 256, 512


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first = nn.Parameter(torch.ones(features))
        self.second = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return F.layer_norm(torch.tanh(F.layer_norm(x, x.shape[-1:]) * self.first), x.shape[-1:]) * self.second


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
