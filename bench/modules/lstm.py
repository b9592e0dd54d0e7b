"""A deep LSTM over long sequences of few inputs: six layers, hidden size 256, 512 steps of batches of 10."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inputs, hidden, layers):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, layers, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


def get_inputs():
    return [torch.randn(10, 512, 128)]


def get_init_inputs():
    return [128, 256, 6]
