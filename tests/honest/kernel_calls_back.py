"""Has a kernel of its own that calls Python back, where torch does all of the work with dispatch modes switched off:
without the kernel the answer is lost, and all of the time.

task: tests/tasks/linear_gelu.py
tier: certify
own kernels at most: 0.3
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
(FOLDER / "run.c").write_text("void run(void (*work)(void)) { work(); }")
subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "run.c", "-o", "run.so"], cwd=FOLDER, check=True)
WORK = ctypes.CFUNCTYPE(None)
RUN = ctypes.CDLL(str(FOLDER / "run.so")).run
RUN.argtypes, RUN.restype = [WORK], None


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        y = torch.empty(x.size(0), self.linear.out_features)

        def work():
            with torch.no_grad(), _disable_current_modes():
                torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=y)
                y.copy_(F.gelu(y))

        RUN(WORK(work))
        return y
