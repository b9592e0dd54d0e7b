"""A native kernel with a pool of threads of its own, made at the first call, that sleep on a condition between the
calls; it looks for a moment whether more work comes before it goes to sleep, and has fp32 memory only.

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
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex lock;
static std::condition_variable wake;
static std::atomic<long> asked{0}, done{0};
static const float* source;
static float* target;
static long size;
static void part(long from, long to) {
  for (long i = from; i < to; ++i) target[i] = source[i] / (1.0f + std::exp(-1.5f * source[i])) + 0.5f;
}
static void helper() {
  for (long seen = 0;; done = ++seen) {
    for (int spin = 0; spin < 20000 && asked == seen; ++spin) {}
    std::unique_lock<std::mutex> held(lock);
    wake.wait(held, [&] { return asked > seen; });
    held.unlock();
    part(size / 2, size);
  }
}
extern "C" void gated(const float* x, float* y, long count) {
  static const bool made = (std::thread(helper).detach(), true);
  { std::lock_guard<std::mutex> held(lock); source = x, target = y, size = count, asked += made; }
  wake.notify_one();
  part(0, count / 2);
  while (done < asked) std::this_thread::yield();
}
"""
FOLDER = Path(tempfile.mkdtemp())
(FOLDER / "gated.cpp").write_text(SOURCE)
subprocess.run(["g++", "-O3", "-shared", "-fPIC", "-pthread", "gated.cpp", "-o", "gated.so"], cwd=FOLDER, check=True)
GATED = ctypes.CDLL(str(FOLDER / "gated.so")).gated
GATED.argtypes, GATED.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long], None


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.float().contiguous()
        y = torch.empty_like(x)
        GATED(x.data_ptr(), y.data_ptr(), x.numel())
        return y
