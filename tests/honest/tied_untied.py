"""Holds the shared weight twice: both copies get the values that load_state_dict brings.

task: tests/tasks/tied.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, words, features):
        super().__init__()
        self.embedding = nn.Embedding(words, features)
        self.hidden = nn.Linear(features, features)
        self.head = nn.Linear(features, words, bias=False)

    def forward(self, words):
        return self.head(torch.tanh(self.hidden(self.embedding(words))))
