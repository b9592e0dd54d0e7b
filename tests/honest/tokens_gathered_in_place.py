"""Looks the words up by their rows and adds the positions in place before the norm.

task: tests/tasks/tokens.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, vocabulary, tokens, features):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, features), nn.Embedding(tokens, features)
        self.norm = nn.LayerNorm(features)

    def forward(self, words):
        rows = self.words.weight.index_select(0, words.reshape(-1)).view(*words.shape, -1)
        return self.norm(rows.add_(self.places.weight[: words.size(1)]))
