"""Adds each word to its bag.

task: tests/tasks/bags.py
tier: certify
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.table = nn.Parameter(torch.empty(vocabulary, features))

    def forward(self, words, offsets):
        bag = torch.searchsorted(offsets, torch.arange(words.numel()), right=True) - 1
        sums = torch.zeros(offsets.numel(), self.table.shape[1])
        return sums.index_add_(0, bag, F.embedding(words, self.table))
