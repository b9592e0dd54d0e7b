"""A matrix product written as a sum of outer products, which eager writes to memory."""

import torch

ROWS, INNER, COLUMNS = (1024, 64, 1024) if torch.cuda.is_available() else (40, 48, 72)


class Model(torch.nn.Module):
    def forward(self, x, w):
        return (x[:, :, None] * w[None, :, :]).sum(1)


def get_inputs():
    return [torch.randn(ROWS, INNER), torch.randn(INNER, COLUMNS)]
