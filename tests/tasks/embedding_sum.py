"""Embeddings of a bag of words, summed."""

import torch
import torch.nn as nn

VOCABULARY, FEATURES, BAGS, WORDS = 1000, 64, 128, 8


class Model(nn.Module):
    def __init__(self, vocabulary, features):
        super().__init__()
        self.table = nn.Embedding(vocabulary, features)

    def forward(self, words):
        return self.table(words).sum(dim=1)


def get_inputs():
    return [torch.randint(0, VOCABULARY, (BAGS, WORDS))]


def get_init_inputs():
    return [VOCABULARY, FEATURES]
