"""Transposed convolution that doubles the image, and a SiLU: one step of a decoder."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, CHANNELS_IN, CHANNELS_OUT, SIZE = (64, 128, 64, 64) if torch.cuda.is_available() else (4, 64, 32, 32)


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.up = nn.ConvTranspose2d(channels_in, channels_out, kernel_size=4, stride=2, padding=1)

    def forward(self, x):
        return F.silu(self.up(x))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS_IN, SIZE, SIZE)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT]
