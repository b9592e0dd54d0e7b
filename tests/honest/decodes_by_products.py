"""Finds the place once, writes both caches there, and attends by two products.

task: tests/tasks/decodes.py
tier: certify
"""

import torch
import torch.nn as nn

BATCH, PLACES = 8, 64


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.project = nn.Linear(features, 3 * features)
        self.register_buffer("keys", torch.zeros(BATCH, PLACES, features), persistent=False)
        self.register_buffer("values", torch.zeros(BATCH, PLACES, features), persistent=False)
        self.register_buffer("place", torch.zeros(1, dtype=torch.long), persistent=False)

    def forward(self, x):
        query, key, value = self.project(x).chunk(3, dim=-1)
        self.keys[:, self.place], self.values[:, self.place] = key, value
        self.place.add_(1).remainder_(PLACES)
        scores = (torch.bmm(query, self.keys.transpose(1, 2)) / query.shape[-1] ** 0.5).softmax(dim=-1)
        return torch.bmm(scores, self.values)
