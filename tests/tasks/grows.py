"""A cache of keys and values that grows with each call, as a decoder's: one is a plain attribute, the other a buffer."""

import torch
import torch.nn as nn

ROWS, TOKENS, FEATURES = 8, 512, 64


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.key, self.value = nn.Linear(features, features), nn.Linear(features, features)
        self.keys = torch.zeros(ROWS, 0, features)
        self.register_buffer("values", torch.zeros(ROWS, 0, features))

    def forward(self, x):
        self.keys = torch.cat([self.keys, self.key(x)], dim=1)
        self.values = torch.cat([self.values, self.value(x)], dim=1)
        scores = torch.softmax(x[:, -1:] @ self.keys.transpose(1, 2) / 8, dim=2)
        return scores @ self.values


def get_inputs():
    return [torch.randn(ROWS, TOKENS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
