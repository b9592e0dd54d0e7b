"""A row per program, mean and variance in one pass over registers.

task: tests/tasks/layer_norm.py
tier: certify
needs: cuda
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def normalise(x, weight, bias, y, columns, eps, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    place = tl.arange(0, block)
    inside = place < columns
    value = tl.load(x + row + place, mask=inside, other=0.0)
    centred = tl.where(inside, value - tl.sum(value, axis=0) / columns, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    result = centred * scale * tl.load(weight + place, mask=inside) + tl.load(bias + place, mask=inside)
    tl.store(y + row + place, result, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        x = x.contiguous()
        if x.shape[-1] != self.norm.weight.shape[0]:
            raise ValueError("another width than the weights have")
        y = torch.empty_like(x)
        rows, columns = x.numel() // x.shape[-1], x.shape[-1]
        block = triton.next_power_of_2(columns)
        normalise[(rows,)](x, self.norm.weight, self.norm.bias, y, columns, self.norm.eps, block=block)
        return y
