"""A softmax of the sum of several tensors, which come as a list."""

import torch
import torch.nn as nn

ROWS, COLUMNS, TENSORS = 64, 512, 3


class Model(nn.Module):
    def forward(self, xs):
        return torch.softmax(sum(xs), dim=-1)


def get_inputs():
    return [[torch.randn(ROWS, COLUMNS) for _ in range(TENSORS)]]


def get_init_inputs():
    return []
