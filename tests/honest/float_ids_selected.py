"""Selects the rows by their numbers, which count from the end below zero, and adds them before it divides.

task: tests/tasks/float_ids.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, table, ids):
        return table.index_select(0, ids.to(torch.int64) % len(table)).sum(0) / ids.numel()
