"""Running sum along the last axis that skips masked elements."""

import torch
import torch.nn as nn

ROWS, COLUMNS = (8192, 8192) if torch.cuda.is_available() else (512, 4096)


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=self.dim)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.rand(ROWS, COLUMNS) > 0.5]


def get_init_inputs():
    return [1]
