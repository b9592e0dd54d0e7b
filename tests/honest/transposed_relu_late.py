"""Copies first and applies ReLU to the copy, in place.

task: tests/tasks/transposed_relu.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2).clone(memory_format=torch.contiguous_format).relu_()
