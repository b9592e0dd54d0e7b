"""Rows divided by their length, which is held from 0."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, COLUMNS = 96, 64


class Model(nn.Module):
    def forward(self, x):
        return F.normalize(x, dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
