"""Residual addition and RMS norm, both returned."""

import torch
import torch.nn as nn

ROWS, FEATURES = 256, 256


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x, residual):
        residual = residual + x
        return residual * torch.rsqrt(residual.pow(2).mean(dim=-1, keepdim=True) + 1e-6) * self.weight, residual


def get_inputs():
    return [torch.randn(ROWS, FEATURES), torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
