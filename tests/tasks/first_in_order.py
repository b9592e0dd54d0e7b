"""The places of the sixteen smallest of rounded numbers, of which many are tied: a part of an order in which these stay as they came."""

import torch
import torch.nn as nn

ROWS, COLUMNS, FIRST = 64, 512, 16


class Model(nn.Module):
    def forward(self, x):
        return x.round().sort(dim=1, stable=True).indices[:, :FIRST]


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
