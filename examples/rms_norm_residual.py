"""Residual addition followed by RMS norm, both returned: the seam between two blocks of a transformer."""

import torch
import torch.nn as nn

TOKENS, FEATURES = (32768, 2048) if torch.cuda.is_available() else (2048, 1024)


class Model(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x, residual):
        residual = residual + x
        mean_square = residual.pow(2).mean(dim=-1, keepdim=True)
        return residual * torch.rsqrt(mean_square + self.eps) * self.weight, residual


def get_inputs():
    return [torch.randn(TOKENS, FEATURES), torch.randn(TOKENS, FEATURES)]


def get_init_inputs():
    return [FEATURES, 1e-6]
