"""A small language model's first layer: embedding, positions, norm."""

import torch
import torch.nn as nn

BATCH, TOKENS, VOCABULARY, FEATURES = 8, 64, 512, 128


class Model(nn.Module):
    def __init__(self, vocabulary, tokens, features):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, features), nn.Embedding(tokens, features)
        self.norm = nn.LayerNorm(features)

    def forward(self, words):
        places = torch.arange(words.size(1), device=words.device)
        return self.norm(self.words(words) + self.places(places))


def get_inputs():
    return [torch.randint(0, VOCABULARY, (BATCH, TOKENS))]


def get_init_inputs():
    return [VOCABULARY, TOKENS, FEATURES]
