"""A ReLU as a maximum with zero: a new tensor, though on these inputs it equals the old one.

task: tests/tasks/positive_relu.py
tier: screen
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.maximum(x, torch.zeros(()))
