"""Four layers of a Qwen3 in fp16, width 1024: as a Llama, with norms of queries and keys and heads wider than its features."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, TOKENS, FEATURES, HEADS, GROUPS, SIZE, INNER, WORDS, LAYERS = (
    (4, 1024, 1024, 16, 8, 128, 3072, 32000, 4) if torch.cuda.is_available() else (2, 32, 64, 4, 2, 32, 128, 100, 2)
)


class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


def rotated(x, cos, sin):
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, features, heads, groups, size):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, size
        self.query = nn.Linear(features, heads * size, bias=False)
        self.key = nn.Linear(features, groups * size, bias=False)
        self.value = nn.Linear(features, groups * size, bias=False)
        self.out = nn.Linear(heads * size, features, bias=False)
        self.query_norm, self.key_norm = RMSNorm(size), RMSNorm(size)

    def forward(self, x, cos, sin):
        batch, tokens, _ = x.shape
        q = self.query_norm(self.query(x).view(batch, tokens, self.heads, self.size)).transpose(1, 2)
        k = self.key_norm(self.key(x).view(batch, tokens, self.groups, self.size)).transpose(1, 2)
        v = self.value(x).view(batch, tokens, self.groups, self.size).transpose(1, 2)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, -1))


class Layer(nn.Module):
    def __init__(self, features, heads, groups, size, inner):
        super().__init__()
        self.before, self.between = RMSNorm(features), RMSNorm(features)
        self.attention = Attention(features, heads, groups, size)
        self.gate = nn.Linear(features, inner, bias=False)
        self.up = nn.Linear(features, inner, bias=False)
        self.down = nn.Linear(inner, features, bias=False)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.before(x), cos, sin)
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self, words, features, heads, groups, size, inner, layers):
        super().__init__()
        self.embed = nn.Embedding(words, features)
        self.layers = nn.ModuleList(Layer(features, heads, groups, size, inner) for _ in range(layers))
        self.norm = RMSNorm(features)
        self.register_buffer("rates", 1.0 / 1e6 ** (torch.arange(0, size, 2) / size), persistent=False)
        self.half()

    def forward(self, ids):
        x = self.embed(ids)
        angles = torch.arange(ids.size(1), device=ids.device)[:, None] * self.rates.float()[None]
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


def get_inputs():
    return [torch.randint(0, WORDS, (BATCH, TOKENS))]


def get_init_inputs():
    return [WORDS, FEATURES, HEADS, GROUPS, SIZE, INNER, LAYERS]
