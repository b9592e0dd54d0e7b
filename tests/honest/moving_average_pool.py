"""Splits the rows among a pool of threads that it keeps, and waits for all of them; the steps are a C loop.

task: tests/tasks/moving_average.py
tier: certify
"""

import ctypes
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
void average(const float* x, float* y, long rows, long steps, float decay, float rest) {
  for (long row = 0; row < rows; ++row) {
    float state = 0;
    for (long step = 0; step < steps; ++step) y[row * steps + step] = state = decay * state + rest * x[row * steps + step];
  }
}
"""
FOLDER = Path(tempfile.mkdtemp())
(FOLDER / "average.c").write_text(SOURCE)
subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "average.c", "-o", "average.so"], cwd=FOLDER, check=True)
AVERAGE = ctypes.CDLL(str(FOLDER / "average.so")).average
AVERAGE.argtypes = [*[ctypes.c_void_p] * 2, *[ctypes.c_long] * 2, *[ctypes.c_float] * 2]
AVERAGE.restype = None
WORKERS = 2
POOL = ThreadPoolExecutor(WORKERS)


class ModelNew(nn.Module):
    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def work(self, x, y):
        AVERAGE(x.data_ptr(), y.data_ptr(), *x.shape, self.decay, 1 - self.decay)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty(x.shape)
        list(POOL.map(self.work, x.chunk(WORKERS), y.chunk(WORKERS)))
        return y
