"""A function instead of a module: the cosine similarity of two batches of vectors, sharpened and squashed."""

import torch

ROWS, FEATURES = (131072, 512) if torch.cuda.is_available() else (16384, 256)


def score(query, key, sharpness):
    similarity = (query * key).sum(dim=-1)
    lengths = query.norm(dim=-1) * key.norm(dim=-1)
    return torch.sigmoid(sharpness * similarity / lengths.clamp(min=1e-8))


def get_inputs():
    return [torch.randn(ROWS, FEATURES), torch.randn(ROWS, FEATURES), torch.rand(ROWS) * 10]
