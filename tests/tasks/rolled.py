"""Rows shifted around by an argument that is a whole number."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 512, 1024


class Model(nn.Module):
    def forward(self, x, by: int):
        return torch.roll(x, by, dims=1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), 5]


def get_init_inputs():
    return []
