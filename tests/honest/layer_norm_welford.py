"""Welford's update in C++, one pass for mean and variance; built at the first call rather than at import.

task: tests/tasks/layer_norm.py
tier: certify
"""

import ctypes
import functools
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#include <cmath>
extern "C" void layer_norm(const float* x, const float* w, const float* b, float* y, long rows, long columns,
                           double eps) {
  for (long r = 0; r < rows; ++r, x += columns, y += columns) {
    double mean = 0, squares = 0;
    for (long c = 0; c < columns; ++c) {
      double step = x[c] - mean;
      mean += step / (c + 1);
      squares += step * (x[c] - mean);
    }
    double scale = 1 / std::sqrt(squares / columns + eps);
    for (long c = 0; c < columns; ++c) y[c] = float((x[c] - mean) * scale) * w[c] + b[c];
  }
}
"""


@functools.cache
def kernel():
    folder = Path(tempfile.mkdtemp())
    (folder / "kernel.cpp").write_text(SOURCE)
    subprocess.run(["g++", "-O2", "-shared", "-fPIC", "kernel.cpp", "-o", "kernel.so"], cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "kernel.so")).layer_norm
    function.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_long] * 2 + [ctypes.c_double]
    function.restype = None
    return function


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        weight, bias = self.norm.weight.detach(), self.norm.bias.detach()
        pointers = (x.data_ptr(), weight.data_ptr(), bias.data_ptr(), y.data_ptr())
        kernel()(*pointers, x.numel() // x.size(-1), x.size(-1), self.norm.eps)
        return y
