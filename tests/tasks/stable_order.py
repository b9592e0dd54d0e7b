"""The order of rounded numbers, of which many are tied: these stay in the order in which they came."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 64, 512


class Model(nn.Module):
    def forward(self, x):
        return x.round().sort(dim=1, stable=True).indices


def get_inputs():
    return [torch.randn(ROWS, COLUMNS) * 4]


def get_init_inputs():
    return []
