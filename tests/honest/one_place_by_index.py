"""Looks up the row of the table that is asked for.

task: tests/tasks/one_place.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, places):
        super().__init__()
        self.table = nn.Parameter(torch.randn(places, columns))

    def forward(self, x, place):
        return x * self.table[place]
