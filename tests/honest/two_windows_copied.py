"""Computes once and copies each window; the second by numpy.

task: tests/tasks/two_windows.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.tanh(x)
        return y[:-1].clone(), torch.from_numpy(y[1:].numpy().copy())
