"""The best of each row and where it is, among few distinct values: ties everywhere."""

import torch
import torch.nn as nn

ROWS, COLUMNS = 256, 64


class Model(nn.Module):
    def forward(self, x):
        return x.amax(dim=-1), x.argmax(dim=-1)


def get_inputs():
    return [torch.randint(0, 8, (ROWS, COLUMNS)).float()]


def get_init_inputs():
    return []
