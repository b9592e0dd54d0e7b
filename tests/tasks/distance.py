"""A function: squared distances between two sets of points."""

import torch

POINTS, CENTRES, FEATURES = 128, 96, 32


def distance(points, centres):
    return (points[:, None, :] - centres[None, :, :]).pow(2).sum(dim=-1)


def get_inputs():
    return [torch.randn(POINTS, FEATURES), torch.randn(CENTRES, FEATURES)]
