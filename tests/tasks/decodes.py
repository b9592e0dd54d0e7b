"""A step of a decoder: it writes the newest key and value into its caches, which no state_dict has, and goes on by one place."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, PLACES, FEATURES = 8, 64, 128


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.project = nn.Linear(features, 3 * features)
        self.register_buffer("keys", torch.zeros(BATCH, PLACES, features), persistent=False)
        self.register_buffer("values", torch.zeros(BATCH, PLACES, features), persistent=False)
        self.register_buffer("place", torch.zeros(1, dtype=torch.long), persistent=False)

    def forward(self, x):
        query, key, value = self.project(x).chunk(3, dim=-1)
        self.keys.index_copy_(1, self.place, key)
        self.values.index_copy_(1, self.place, value)
        self.place = (self.place + 1) % PLACES
        return F.scaled_dot_product_attention(query, self.keys, self.values)


def get_inputs():
    return [torch.randn(BATCH, 1, FEATURES)]


def get_init_inputs():
    return [FEATURES]
