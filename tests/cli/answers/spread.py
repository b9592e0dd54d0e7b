"""A softmax of rows, weighted: eager passes over the matrix four times."""

import torch

ROWS, COLUMNS = (4096, 4096) if torch.cuda.is_available() else (24, 200)


class Model(torch.nn.Module):
    def forward(self, x, r):
        return torch.relu(torch.softmax(1.5 * x, -1)) * r


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)]
