"""A custom autograd function around plain operators, as people write who want to train with it.

task: tests/tasks/unit_rows.py
tier: certify
"""

import torch
import torch.nn as nn


class UnitRows(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        size = x.square().sum(dim=-1, keepdim=True).sqrt_().clamp_(min=1e-12)
        y = x / size
        context.save_for_backward(y, size)
        return y

    @staticmethod
    def backward(context, grad):
        y, size = context.saved_tensors
        return (grad - y * (y * grad).sum(dim=-1, keepdim=True)) / size


class ModelNew(nn.Module):
    def forward(self, x):
        return UnitRows.apply(x)
