"""A C++ kernel, compiled when the file is imported and called through ctypes.

task: tests/tasks/softmax.py
tier: certify
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#include <algorithm>
#include <cmath>
extern "C" void softmax(const float* x, float* y, long rows, long columns) {
  for (long r = 0; r < rows; ++r, x += columns, y += columns) {
    float top = *std::max_element(x, x + columns);
    double sum = 0;
    for (long c = 0; c < columns; ++c) {
      if (std::isnan(x[c])) top = x[c];
      y[c] = std::exp(x[c] - top);
      sum += y[c];
    }
    for (long c = 0; c < columns; ++c) y[c] /= sum;
  }
}
"""


def build(source):
    folder = Path(tempfile.mkdtemp())
    (folder / "kernel.cpp").write_text(source)
    command = ["g++", "-O3", "-march=native", "-shared", "-fPIC", "kernel.cpp", "-o", "kernel.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "kernel.so"))


SOFTMAX = build(SOURCE).softmax
SOFTMAX.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
SOFTMAX.restype = None


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        SOFTMAX(x.data_ptr(), y.data_ptr(), x.size(0), x.size(1))
        return y
