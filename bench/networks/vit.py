"""Six layers of ViT-base in fp32: patches by a convolution, pre-norm layers, torch's own attention."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, SIDE, PATCH, FEATURES, HEADS, INNER, CLASSES, LAYERS = (
    (64, 224, 16, 768, 12, 3072, 1000, 6) if torch.cuda.is_available() else (2, 32, 8, 64, 4, 128, 10, 2)
)


class Attention(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(features, 3 * features)
        self.out = nn.Linear(features, features)

    def forward(self, x):
        batch, tokens, features = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, self.heads, features // self.heads).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, features))


class Layer(nn.Module):
    def __init__(self, features, heads, inner):
        super().__init__()
        self.before = nn.LayerNorm(features, eps=1e-6)
        self.attention = Attention(features, heads)
        self.between = nn.LayerNorm(features, eps=1e-6)
        self.up = nn.Linear(features, inner)
        self.down = nn.Linear(inner, features)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Model(nn.Module):
    def __init__(self, side, patch, features, heads, inner, layers, classes):
        super().__init__()
        self.patches = nn.Conv2d(3, features, patch, stride=patch)
        self.first = nn.Parameter(torch.randn(1, 1, features) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, features) * 0.02)
        self.layers = nn.ModuleList(Layer(features, heads, inner) for _ in range(layers))
        self.norm = nn.LayerNorm(features, eps=1e-6)
        self.head = nn.Linear(features, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.size(0), -1, -1), x], dim=1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


def get_inputs():
    return [torch.randn(BATCH, 3, SIDE, SIDE)]


def get_init_inputs():
    return [SIDE, PATCH, FEATURES, HEADS, INNER, LAYERS, CLASSES]
