"""The weights of each token's four best experts of 48, in whatever order, and which they are."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, scores):
        weights, chosen = torch.topk(F.softmax(scores, dim=-1), 4, dim=-1, sorted=False)
        return weights / weights.sum(dim=-1, keepdim=True), chosen


def get_inputs():
    return [torch.randn(256, 48)]


def get_init_inputs():
    return []
