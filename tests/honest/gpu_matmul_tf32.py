"""Products in TF32, where that is allowed.

task: tests/tasks/matmul.py
tier: screen
needs: cuda
accuracy: tf32
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, PRECISION: tl.constexpr, tile: tl.constexpr, depth: tl.constexpr):
    rows = tl.program_id(0) * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    total = tl.zeros((tile, tile), dtype=tl.float32)
    for start in range(0, k, depth):
        inner = start + tl.arange(0, depth)
        left = tl.load(a + rows[:, None] * k + inner[None, :], (rows[:, None] < m) & (inner[None, :] < k), 0.0)
        right = tl.load(b + inner[:, None] * n + columns[None, :], (inner[:, None] < k) & (columns[None, :] < n), 0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + rows[:, None] * n + columns[None, :], total, (rows[:, None] < m) & (columns[None, :] < n))


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        (m, k), n = a.shape, b.shape[1]
        if b.shape[0] != k:
            raise ValueError("the matrices do not fit")
        c = torch.empty(m, n, device=a.device)
        product[(triton.cdiv(m, 64), triton.cdiv(n, 64))](a, b, c, m, n, k, PRECISION="tf32", tile=64, depth=32)
        return c
