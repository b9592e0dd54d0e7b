"""ReLU and dropout in train mode."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 128, 512


class Model(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.drop(torch.relu(x))


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return [0.3]
