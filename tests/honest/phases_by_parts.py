"""Divides real and imaginary parts by a size of its own.

task: tests/tasks/phases.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        size = torch.sqrt(x.real * x.real + x.imag * x.imag).clamp(max=50)
        return torch.complex(x.real / size, x.imag / size)
