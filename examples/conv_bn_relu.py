"""Convolution, batch norm and ReLU at inference: the running statistics are used, not the batch's."""

import torch
import torch.nn as nn

BATCH, CHANNELS_IN, CHANNELS_OUT, SIZE = (64, 64, 128, 112) if torch.cuda.is_available() else (4, 32, 64, 56)
MODE = "eval"


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels_out)
        nn.init.normal_(self.norm.running_mean, std=0.2)
        nn.init.uniform_(self.norm.running_var, 0.5, 1.5)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS_IN, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT]
