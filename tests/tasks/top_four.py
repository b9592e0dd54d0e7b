"""The four best of each row and where they are."""

import torch
import torch.nn as nn

ROWS, COLUMNS, BEST = 256, 512, 4


class Model(nn.Module):
    def forward(self, x):
        return torch.topk(x, BEST, dim=-1)


def get_inputs():
    return [torch.randint(0, 8, (ROWS, COLUMNS)).float()]


def get_init_inputs():
    return []
