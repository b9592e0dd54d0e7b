"""Rows of a table added up bag by bag."""

import torch

from cases import I, K, T, case


def bags(table, rows, offsets, mode, weights=None, closed=False, padding=None):
    case("embedding_bag.padding_idx", table, rows, offsets, False, mode, False, weights, closed, padding)


for mode in (0, 1):
    bags(T(10, 4), I(6, low=0, high=10), K(0, 2, 4), mode)
    bags(T(10, 4), I(6, low=0, high=10), K(0, 3, 6), mode, closed=True)
    bags(T(4, 5), I(24, low=0, high=4), K(0, 8, 16), mode, padding=1)
    bags(T(4, 5), torch.tensor([1, 1, 0, 1]), K(0, 2), mode, padding=-3)
    case("embedding_bag.default", T(3, 4), I(5, low=0, high=3), K(0), False, mode)
bags(T(10, 4), I(6, low=0, high=10), K(0, 2, 4), 0, T(6))
bags(T(10, 33), I(96, low=0, high=10), K(*range(0, 96, 8)), 0, T(96), padding=2)
