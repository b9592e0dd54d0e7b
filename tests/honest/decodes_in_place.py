"""Writes the newest key and value into views of the caches, without an index.

task: tests/tasks/decodes.py
tier: certify
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, PLACES = 8, 64


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.project = nn.Linear(features, 3 * features)
        self.register_buffer("keys", torch.zeros(BATCH, PLACES, features), persistent=False)
        self.register_buffer("values", torch.zeros(BATCH, PLACES, features), persistent=False)
        self.register_buffer("place", torch.zeros(1, dtype=torch.long), persistent=False)

    def forward(self, x):
        with torch.no_grad():
            query, key, value = self.project(x).chunk(3, dim=-1)
            at = self.place.item()
            self.keys.narrow(1, at, 1).copy_(key)
            self.values[:, at] = value[:, 0]
            self.place.add_(1).remainder_(PLACES)
            return F.scaled_dot_product_attention(query, self.keys, self.values)
