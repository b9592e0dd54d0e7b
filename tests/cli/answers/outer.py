"""A matrix product written as a sum of outer products, which eager writes to memory."""

import torch


class Model(torch.nn.Module):
    def forward(self, x, w):
        return (x[:, :, None] * w[None, :, :]).sum(1)


def get_inputs():
    return [torch.randn(128, 128), torch.randn(128, 128)]
