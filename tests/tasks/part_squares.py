"""Mean squares of the columns of eight parts of a batch, in bfloat16, as outputs of their own: a few columns are small."""

import torch
import torch.nn as nn

PARTS, ROWS, COLUMNS, SMALL = 8, 256, 64, 2


class Model(nn.Module):
    def __init__(self, columns, small):
        super().__init__()
        scale = torch.ones(columns)
        scale[:small] = 1e-2
        self.register_buffer("scale", scale)

    def forward(self, x):
        y = (x * self.scale).bfloat16()
        return tuple((part * part).mean(dim=0).float() for part in y)


def get_inputs():
    return [torch.randn(PARTS, ROWS, COLUMNS)]


def get_init_inputs():
    return [COLUMNS, SMALL]
