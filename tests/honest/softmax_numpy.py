"""Computes in numpy and hands its array back without a copy.

task: tests/tasks/softmax.py
tier: screen
"""

import numpy
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        values = x.numpy()
        e = numpy.exp(values - values.max(axis=-1, keepdims=True))
        e /= e.sum(axis=-1, keepdims=True)
        return torch.from_numpy(e)
