"""Sums over the steps that each sample has, over the root of their number: all have all of them."""

import torch
import torch.nn as nn

SAMPLES, STEPS, FEATURES = 128, 64, 64


class Model(nn.Module):
    def forward(self, x, lengths):
        keep = torch.arange(x.shape[1]) < lengths[:, None]
        return (x * keep[..., None]).sum(dim=1) / lengths.clamp(min=1).sqrt()[:, None]


def get_inputs():
    return [torch.randn(SAMPLES, STEPS, FEATURES), torch.full((SAMPLES,), STEPS)]


def get_init_inputs():
    return []
