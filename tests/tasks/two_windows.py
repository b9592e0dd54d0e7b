"""Two windows of one signal that overlap, each a tensor of its own."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 512, 512


class Model(nn.Module):
    def forward(self, x):
        y = torch.tanh(x)
        return y[:-1].clone(), y[1:].clone()


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
