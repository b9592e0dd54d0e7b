"""Columns less their means, scaled and gated: eager passes over the matrix fifteen times."""

import torch

ROWS, COLUMNS = (32768, 1024) if torch.cuda.is_available() else (150, 40)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.linspace(0.5, 1.5, COLUMNS))
        self.shift = torch.nn.Parameter(torch.linspace(-1, 1, COLUMNS))

    def forward(self, x, r):
        h = (x - x.mean(0)) * self.scale + self.shift
        return h * torch.sigmoid(h) + r


def get_inputs():
    return [2 + torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)]
