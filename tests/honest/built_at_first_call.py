"""Compiles a kernel for each number of elements when it first meets it, in the call; later calls find it in a
dictionary.

task: tests/tasks/gated.py
tier: certify
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#include <cmath>
extern "C" void gated(const float* x, float* y) {
#pragma omp parallel for
  for (long i = 0; i < COUNT; ++i) y[i] = x[i] / (1.0f + std::exp(-1.5f * x[i])) + 0.5f;
}
"""


def built(count):
    folder = Path(tempfile.mkdtemp())
    (folder / "gated.cpp").write_text(SOURCE)
    command = f"g++ -O3 -fopenmp -DCOUNT={count}L -shared -fPIC gated.cpp -o gated.so"
    subprocess.run(command.split(), cwd=folder, check=True)
    kernel = ctypes.CDLL(str(folder / "gated.so")).gated
    kernel.argtypes, kernel.restype = [ctypes.c_void_p, ctypes.c_void_p], None
    return kernel


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernels = {}

    def forward(self, x):
        x = x.contiguous()
        if x.numel() not in self.kernels:
            self.kernels[x.numel()] = built(x.numel())
        y = torch.empty_like(x)
        self.kernels[x.numel()](x.data_ptr(), y.data_ptr())
        return y
