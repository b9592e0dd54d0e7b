"""Causal self-attention written out: one projection to queries, keys and values, a masked softmax, and the way back."""

import math

import torch
import torch.nn as nn

BATCH, TOKENS, FEATURES, HEADS = (16, 1024, 768, 12) if torch.cuda.is_available() else (4, 256, 256, 4)


class Model(nn.Module):
    def __init__(self, features, heads, longest):
        super().__init__()
        self.qkv = nn.Linear(features, 3 * features)
        self.out = nn.Linear(features, features)
        self.heads = heads
        self.register_buffer("visible", torch.tril(torch.ones(longest, longest)).view(1, 1, longest, longest))

    def forward(self, x):
        batch, tokens, features = x.size()
        q, k, v = self.qkv(x).split(features, dim=2)
        q = q.view(batch, tokens, self.heads, features // self.heads).transpose(1, 2)
        k = k.view(batch, tokens, self.heads, features // self.heads).transpose(1, 2)
        v = v.view(batch, tokens, self.heads, features // self.heads).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.visible[:, :, :tokens, :tokens] == 0, float("-inf"))
        y = torch.softmax(scores, dim=-1) @ v
        y = y.transpose(1, 2).contiguous().view(batch, tokens, features)
        return self.out(y)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, FEATURES)]


def get_init_inputs():
    return [FEATURES, HEADS, TOKENS]
