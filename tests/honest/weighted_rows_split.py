"""Splits numbers and weights first, and multiplies by the weights of each row.

task: tests/tasks/weighted_rows.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, table, picks):
        numbers, weights = picks.split(1, 1)
        return weights * table.index_select(0, numbers.flatten().long() % len(table))
