"""The order of rounded numbers, among which many are tied, and numbers rounded to integers."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 64, 128


class Model(nn.Module):
    def forward(self, x):
        return x.round().sort(dim=1).indices, (x * 1e6).round().int()


def get_inputs():
    return [torch.randn(ROWS, COLUMNS) * 4]


def get_init_inputs():
    return []
