"""Depthwise separable convolution: a 3x3 filter per channel, ReLU6, then a 1x1 convolution that mixes the channels."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, CHANNELS_IN, CHANNELS_OUT, SIZE = (32, 128, 128, 112) if torch.cuda.is_available() else (8, 64, 64, 56)


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.depthwise = nn.Conv2d(channels_in, channels_in, kernel_size=3, padding=1, groups=channels_in)
        self.pointwise = nn.Conv2d(channels_in, channels_out, kernel_size=1)

    def forward(self, x):
        return self.pointwise(F.relu6(self.depthwise(x)))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS_IN, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT]
