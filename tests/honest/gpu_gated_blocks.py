"""A block of elements per program.

task: tests/tasks/gated.py
tier: certify
needs: cuda
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gated(x, y, count, block: tl.constexpr):
    place = tl.program_id(0) * block + tl.arange(0, block)
    inside = place < count
    value = tl.load(x + place, mask=inside)
    tl.store(y + place, value * tl.sigmoid(1.5 * value) + 0.5, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        gated[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), block=1024)
        return y
