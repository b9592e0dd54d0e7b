"""A C kernel with OpenMP, a row of scores at a time; the mask is read as bytes.

task: tests/tasks/masked_softmax.py
tier: certify
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#include <math.h>
void softmax(const float* scores, const unsigned char* mask, float* y, long heads, long rows, long columns) {
#pragma omp parallel for
  for (long row = 0; row < heads * rows; ++row) {
    const float* x = scores + row * columns;
    const unsigned char* keep = mask + row % rows * columns;
    float* out = y + row * columns;
    float top = -INFINITY;
    double sum = 0;
    for (long i = 0; i < columns; ++i) {
      out[i] = keep[i] ? x[i] : -1e9f;
      top = out[i] > top || out[i] != out[i] ? out[i] : top;
    }
    for (long i = 0; i < columns; ++i) sum += out[i] = expf(out[i] - top);
    float scale = (float)(1 / sum);
    for (long i = 0; i < columns; ++i) out[i] *= scale;
  }
}
"""
FOLDER = Path(tempfile.mkdtemp())
(FOLDER / "softmax.c").write_text(SOURCE)
subprocess.run(
    ["gcc", "-O3", "-fopenmp", "-shared", "-fPIC", "softmax.c", "-o", "softmax.so", "-lm"], cwd=FOLDER, check=True
)
SOFTMAX = ctypes.CDLL(str(FOLDER / "softmax.so")).softmax
SOFTMAX.argtypes = [*[ctypes.c_void_p] * 3, *[ctypes.c_long] * 3]
SOFTMAX.restype = None


class ModelNew(nn.Module):
    def forward(self, scores, mask):
        if scores.dim() != 3 or mask.shape != scores.shape[1:]:
            raise ValueError(f"wanted heads x rows x columns and a mask of the last two, got {list(scores.shape)}")
        scores, mask = scores.contiguous(), mask.contiguous()
        y = torch.empty(scores.shape)
        SOFTMAX(scores.data_ptr(), mask.data_ptr(), y.data_ptr(), *scores.shape)
        return y
