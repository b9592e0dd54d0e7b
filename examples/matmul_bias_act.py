"""Matmul, bias, leaky ReLU and a learned scale, one operator after the other."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, FEATURES_IN, FEATURES_OUT = (8192, 1024, 4096) if torch.cuda.is_available() else (1024, 256, 1024)


class Model(nn.Module):
    def __init__(self, features_in, features_out, slope):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features_in, features_out) / features_in**0.5)
        self.bias = nn.Parameter(torch.randn(features_out))
        self.scale = nn.Parameter(1 + 0.1 * torch.randn(features_out))
        self.slope = slope

    def forward(self, x):
        y = torch.matmul(x, self.weight)
        y = y + self.bias
        y = F.leaky_relu(y, self.slope)
        return y * self.scale


def get_inputs():
    return [torch.randn(ROWS, FEATURES_IN)]


def get_init_inputs():
    return [FEATURES_IN, FEATURES_OUT, 0.1]
