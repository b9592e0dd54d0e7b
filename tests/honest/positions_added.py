"""Adds the rows of the table into a copy of the input.

task: tests/tasks/positions.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, tokens, features):
        super().__init__()
        self.table = nn.Embedding(tokens, features)

    def forward(self, x, positions):
        return self.table.weight.index_select(0, positions).add_(x)
