"""Rows sorted, with the order: few distinct values, so that ties are everywhere."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 256, 256


class Model(nn.Module):
    def forward(self, x):
        return torch.sort(x, dim=-1)


def get_inputs():
    return [torch.randint(0, 16, (ROWS, COLUMNS)).float()]


def get_init_inputs():
    return []
