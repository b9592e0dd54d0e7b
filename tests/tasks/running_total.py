"""Adds each batch to a total that the caller gave, where it lies, and returns the batch in units of it."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 256, 512


class Model(nn.Module):
    def forward(self, x, total):
        total.add_(x.abs().sum(dim=0))
        return x / total


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.rand(COLUMNS) + 1]


def get_init_inputs():
    return []
