"""What `--accuracy` changes: budgets of a module in fp32 throughout, or with matrix products in TF32.

TF32 is emulated: operands are rounded to its ten bits of mantissa before the product is computed in fp32, as the units
that have it do. So a budget measured anywhere holds for a kernel that uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from mtmc.wire.modes import DispatchMode

# Operator -> positions of the factors among its arguments.
FACTORS = {
    "mm": (0, 1),
    "bmm": (0, 1),
    "mv": (0, 1),
    "dot": (0, 1),
    "addmm": (1, 2),
    "addbmm": (1, 2),
    "baddbmm": (1, 2),
    "addmv": (1, 2),
    "convolution": (0, 1),
    "mkldnn_rnn_layer": (0, 1, 2),
    "cudnn_convolution": (0, 1),
    "_scaled_dot_product_flash_attention_for_cpu": (0, 1, 2),
    "_scaled_dot_product_flash_attention": (0, 1, 2),
    "_scaled_dot_product_efficient_attention": (0, 1, 2),
    "_scaled_dot_product_cudnn_attention": (0, 1, 2),
}


def round_to_tf32(x: torch.Tensor) -> torch.Tensor:
    """The nearest values with ten bits of mantissa; halves go away from zero. On a GPU, the next towards zero: its matrix
    units just ignore the other bits. Infinities and NaN stay what they are."""
    half = 0 if x.is_cuda else 0x1000
    rounded = ((x.contiguous().view(torch.int32) + half) & -0x2000).view(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x)


class Tf32Matmuls(DispatchMode):
    """Matrix products, convolutions and attention see fp32 operands with the ten bits of TF32."""

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        factors = FACTORS.get(func.overloadpacket.__name__, ())
        args = [
            round_to_tf32(a) if i in factors and isinstance(a, torch.Tensor) and a.dtype == torch.float32 else a
            for i, a in enumerate(args)
        ]
        return func(*args, **(kwargs or {}))


@contextmanager
def fp32_only() -> Iterator[None]:
    """No operator of torch computes fp32 in a lower precision."""
    matmul, convolution = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(matmul)
        torch.backends.cudnn.allow_tf32 = convolution
