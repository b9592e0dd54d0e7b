"""Gathers all rows at once and sums them in groups.

task: tests/tasks/embedding_sum.py
tier: screen
"""

import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.table = nn.Embedding(vocabulary, features)

    def forward(self, words):
        return F.embedding_bag(words, self.table.weight, mode="sum")
