"""A C++ kernel with OpenMP, whose pool of threads stays asleep between the calls. ccache compiles it where there is one, as for
torch's own extensions.

task: tests/tasks/gated.py
tier: certify
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#include <cmath>
extern "C" void gated(const float* x, float* y, long count) {
#pragma omp parallel for
  for (long i = 0; i < count; ++i) y[i] = x[i] / (1.0f + std::exp(-1.5f * x[i])) + 0.5f;
}
"""
FOLDER = Path(tempfile.mkdtemp())
(FOLDER / "gated.cpp").write_text(SOURCE)
COMPILER = ["ccache", "g++"] if shutil.which("ccache") else ["g++"]
subprocess.run([*COMPILER, "-O3", "-fopenmp", "-shared", "-fPIC", "-c", "gated.cpp"], cwd=FOLDER, check=True)
subprocess.run(["g++", "-fopenmp", "-shared", "gated.o", "-o", "gated.so"], cwd=FOLDER, check=True)
GATED = ctypes.CDLL(str(FOLDER / "gated.so")).gated
GATED.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
GATED.restype = None


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        GATED(x.data_ptr(), y.data_ptr(), x.numel())
        return y
