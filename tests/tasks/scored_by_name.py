"""Returns a dict."""

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, FEATURES, CLASSES = 128, 64, 10


class Model(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.head = nn.Linear(features, classes)

    def forward(self, x, wanted):
        scores = self.head(x)
        return {"scores": scores, "loss": F.cross_entropy(scores, wanted)}


def get_inputs():
    return [torch.randn(ROWS, FEATURES), torch.randint(0, CLASSES, (ROWS,))]


def get_init_inputs():
    return [FEATURES, CLASSES]
