"""Tokens and features change places, and the result is dense."""

import torch
import torch.nn as nn

BATCH, TOKENS, FEATURES = 4, 256, 256


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x).transpose(1, 2).contiguous()


def get_inputs():
    return [torch.randn(BATCH, TOKENS, FEATURES)]


def get_init_inputs():
    return []
