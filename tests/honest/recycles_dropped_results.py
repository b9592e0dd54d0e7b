"""Uses the memory of its own results again once nobody holds them, as an allocator would: a result that is kept is
left alone.

task: tests/tasks/gated.py
tier: certify
"""

import sys

import numpy
import torch
import torch.nn as nn

HELD_BY_NOBODY = 3  # by the list, the loop and the question


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = []

    def memory(self, shape):
        for array in self.pool:
            if array.shape == shape and sys.getrefcount(array) == HELD_BY_NOBODY:
                return array
        self.pool = [array for array in self.pool if array.shape == shape][-7:]
        self.pool.append(numpy.empty(shape, numpy.float32))
        return self.pool[-1]

    def forward(self, x):
        y = torch.from_numpy(self.memory(tuple(x.shape)))  # holds the array for as long as it lives
        return torch.mul(x, 1.5, out=y).sigmoid_().mul_(x).add_(0.5)
