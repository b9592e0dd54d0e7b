"""Six layers of BERT-base in fp32: post-norm encoder layers, attention written out with a mask of padding."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, TOKENS, FEATURES, HEADS, INNER, WORDS, LAYERS = (
    (16, 512, 768, 12, 3072, 30522, 6) if torch.cuda.is_available() else (2, 32, 64, 4, 128, 500, 2)
)


class Embeddings(nn.Module):
    def __init__(self, words, longest, features):
        super().__init__()
        self.word = nn.Embedding(words, features)
        self.position = nn.Embedding(longest, features)
        self.kind = nn.Embedding(2, features)
        self.norm = nn.LayerNorm(features, eps=1e-12)
        self.register_buffer("positions", torch.arange(longest)[None])

    def forward(self, ids, kinds):
        return self.norm(self.word(ids) + self.kind(kinds) + self.position(self.positions[:, : ids.size(1)]))


class Attention(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(features, features) for _ in range(3))

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1)) + mask
        return (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(x.shape)


class Layer(nn.Module):
    def __init__(self, features, heads, inner):
        super().__init__()
        self.attention = Attention(features, heads)
        self.out = nn.Linear(features, features)
        self.attention_norm = nn.LayerNorm(features, eps=1e-12)
        self.up = nn.Linear(features, inner)
        self.down = nn.Linear(inner, features)
        self.norm = nn.LayerNorm(features, eps=1e-12)

    def forward(self, x, mask):
        x = self.attention_norm(self.out(self.attention(x, mask)) + x)
        return self.norm(self.down(F.gelu(self.up(x))) + x)


class Model(nn.Module):
    def __init__(self, words, longest, features, heads, inner, layers):
        super().__init__()
        self.embeddings = Embeddings(words, longest, features)
        self.layers = nn.ModuleList(Layer(features, heads, inner) for _ in range(layers))
        self.pooler = nn.Linear(features, features)

    def forward(self, ids, kinds, attended):
        x = self.embeddings(ids, kinds)
        mask = (1.0 - attended[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


def get_inputs():
    attended = torch.arange(TOKENS)[None] < torch.randint(TOKENS // 2, TOKENS + 1, (BATCH, 1))
    return [torch.randint(0, WORDS, (BATCH, TOKENS)), torch.randint(0, 2, (BATCH, TOKENS)), attended.long()]


def get_init_inputs():
    return [WORDS, TOKENS, FEATURES, HEADS, INNER, LAYERS]
