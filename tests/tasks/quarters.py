"""The mean of some rows of a table, whose places come in quarters: half an ulp less, and each is another row's."""

import torch
import torch.nn as nn

ROWS, FEATURES, PLACES = 64, 32, 256


class Model(nn.Module):
    def forward(self, table, places):
        return table[(places * 4).long()].mean(0)


def get_inputs():
    return [torch.randn(ROWS, FEATURES) + 5, torch.randint(0, ROWS, (PLACES,)).float() / 4]


def get_init_inputs():
    return []
