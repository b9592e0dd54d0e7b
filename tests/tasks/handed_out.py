"""A recurrent step that hands out what it keeps: its hidden state, made anew by each call, a table that stays, and one of a dict."""

import torch
import torch.nn as nn

ROWS, FEATURES = 256, 128


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(2 * features, features)
        self.hidden = torch.zeros(ROWS, features)
        self.phases = torch.linspace(0, 1, features)
        self.tables = {}

    def forward(self, x):
        self.hidden = torch.tanh(self.linear(torch.cat([x, self.hidden], dim=1)))
        if len(x) not in self.tables:
            self.tables[len(x)] = torch.arange(len(x))
        return self.hidden, self.phases, self.tables[len(x)]


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES]
