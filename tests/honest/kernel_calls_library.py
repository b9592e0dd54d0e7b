"""Has a kernel of its own that looks up torch's matrix product in the library and calls that: no operator of torch is
seen, and all of the time is said to be the kernel's. It does so eight times: what is lost without it can be measured.

task: tests/tasks/matmul.py
tier: certify
own kernels at most: 0.3
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
typedef void Product(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                     const int*, const float*, const int*, const float*, float*, const int*);
void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const float one = 1, none = 0;
  Product* find = (Product*)dlsym(dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY), "SGEMM");
  for (int again = 0; again < 8; ++again)
    find("N", "N", &n, &m, &k, &one, b, &n, a, &k, &none, c, &n);
}
"""
FOLDER = Path(tempfile.mkdtemp())
(FOLDER / "product.c").write_text(SOURCE)
subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "product.c", "-o", "product.so", "-ldl"], cwd=FOLDER, check=True)
PRODUCT = ctypes.CDLL(str(FOLDER / "product.so")).product
PRODUCT.argtypes, PRODUCT.restype = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 3, None


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        c = torch.empty(a.size(0), b.size(1))
        PRODUCT(a.data_ptr(), b.data_ptr(), c.data_ptr(), c.size(0), c.size(1), a.size(1))
        return c
