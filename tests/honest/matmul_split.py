"""Splits the inner dimension, so the sums are taken in another order than eager's.

task: tests/tasks/matmul.py
tier: screen
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        half = a.size(1) // 2
        return a[:, :half] @ b[:half] + a[:, half:] @ b[half:]
