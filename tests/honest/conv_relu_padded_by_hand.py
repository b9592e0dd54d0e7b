"""Pads into a workspace that it keeps for each shape, convolves in channels-last order and returns an ordinary dense tensor.

task: tests/tasks/conv_relu.py
tier: certify
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1)
        self.workspaces = {}

    def forward(self, x):
        batch, channels, height, width = x.shape
        padded = self.workspaces.get(x.shape)
        if padded is None:
            padded = torch.zeros(batch, channels, height + 2, width + 2).to(memory_format=torch.channels_last)
            self.workspaces[x.shape] = padded
        padded[:, :, 1:-1, 1:-1] = x
        y = F.conv2d(padded, self.conv.weight, self.conv.bias)
        return y.contiguous().relu_()
