"""A product of two matrices in double precision, of many terms each."""

import torch
import torch.nn as nn

ROWS, TERMS = 64, 4096


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(ROWS, TERMS, dtype=torch.float64), torch.randn(TERMS, ROWS, dtype=torch.float64)]


def get_init_inputs():
    return []
