"""A matrix product whose author was content with bfloat16."""

import torch
import torch.nn as nn

SIZE = 128


class Model(nn.Module):
    def forward(self, a, b):
        return (a.bfloat16() @ b.bfloat16()).float()


def get_inputs():
    return [torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)]


def get_init_inputs():
    return []
