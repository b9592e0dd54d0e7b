"""The convolution as one product of the weights with unfolded patches.

task: tests/tasks/conv_relu.py
tier: screen
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1)

    def forward(self, x):
        patches = F.unfold(x, kernel_size=3, padding=1)
        y = self.conv.weight.flatten(1) @ patches + self.conv.bias[:, None]
        return torch.relu(y).view(x.size(0), -1, *x.shape[2:])
