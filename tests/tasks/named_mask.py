"""Arguments that forward takes by their names only: a mask it asks for, and one of its further words."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, width)

    def forward(self, x, scale=0.5, *, mask, bias=None, **words):
        return torch.softmax((self.score(x) * scale).masked_fill(mask, -1e9), dim=-1) * words["gain"]


def get_inputs():
    return [torch.randn(192, 64)], {"mask": torch.rand(192, 64) < 0.3, "gain": torch.randn(64)}


def get_init_inputs():
    return [64]
