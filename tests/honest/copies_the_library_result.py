"""Has torch do the work with dispatch modes switched off, and a kernel of its own copy the result: without the kernel the answer is
lost, but hardly any of the time.

task: tests/tasks/linear_gelu.py
tier: certify
own kernels at most: 0.85
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils._python_dispatch import _disable_current_modes

FOLDER = Path(tempfile.mkdtemp())
(FOLDER / "copies.c").write_text(
    "void copies(const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i]; }"
)
subprocess.run(["gcc", "-O3", "-shared", "-fPIC", "copies.c", "-o", "copies.so"], cwd=FOLDER, check=True)
COPIES = ctypes.CDLL(str(FOLDER / "copies.so")).copies
COPIES.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
COPIES.restype = None


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        with _disable_current_modes():
            result = F.gelu(self.linear(x))
        y = torch.empty(result.shape)
        COPIES(result.data_ptr(), y.data_ptr(), y.numel())
        return y
