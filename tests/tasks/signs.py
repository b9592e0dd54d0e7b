"""Sizes under the signs of other numbers."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 256, 256


class Model(nn.Module):
    def forward(self, x, signs):
        return torch.copysign(x.exp(), signs)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
