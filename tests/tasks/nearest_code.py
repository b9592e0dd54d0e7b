"""The code of a book that is nearest to each vector, as the picture has them: a view of what argmin returns. Codes are equal now and then."""

import torch
import torch.nn as nn

SIZE, FEATURES, CODES = 16, 4, 64


class Model(nn.Module):
    def forward(self, x, book):
        flat = x.reshape(-1, FEATURES)
        distances = flat.square().sum(1, keepdim=True) - 2 * flat @ book.T + book.square().sum(1)
        return distances.argmin(1).view(x.shape[:-1])


def get_inputs():
    return [torch.randint(-2, 3, (4, SIZE, SIZE, FEATURES)).float(), torch.randint(-2, 3, (CODES, FEATURES)).float()]


def get_init_inputs():
    return []
