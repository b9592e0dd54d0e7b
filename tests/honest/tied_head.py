"""Keeps the module's shared weight under both names, and carries its file's optional import along.

task: tests/tasks/tied.py
tier: certify
"""

import torch
import torch.nn as nn

try:
    import flash_attn
except ImportError:
    flash_attn = None


class ModelNew(nn.Module):
    def __init__(self, words, features):
        super().__init__()
        self.embedding = nn.Embedding(words, features)
        self.hidden = nn.Linear(features, features)
        self.head = nn.Linear(features, words, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words):
        rows = self.embedding.weight[words.flatten()]
        hidden = torch.tanh(torch.addmm(self.hidden.bias, rows, self.hidden.weight.t()))
        return (hidden @ self.head.weight.t()).view(*words.shape, -1)
