"""A product of two matrices."""

import torch
import torch.nn as nn

SIZE = 256


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE) / SIZE**0.5]


def get_init_inputs():
    return []
