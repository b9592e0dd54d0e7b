"""What torch computes in full f32 although it may use TF32: of convolutions cuDNN takes what is fastest for the sizes, and some
of that (Winograd, Fourier transforms, one channel at a time) has no use for TF32."""

from __future__ import annotations

from typing import Any

import torch

from mtmc.device.device import Device
from mtmc.tune.versions import input_spec

# Of the norm. Between two orders of summation in f32 lie some 1e-6; TF32, with a mantissa of 10 bits, errs by 3e-4.
APART = 2e-5


def same_without_tf32(call: dict[str, Any], device: Device) -> bool:
    """`call`: {"call": expression over x0, x1, ..., "inputs": ["f32[1,2]", ...]}. False where it is not found out: memory does not
    suffice, or the library refuses."""
    torch.manual_seed(0)
    allowed = torch.backends.cudnn.allow_tf32
    try:
        with torch.device(device.where):
            inputs = [input_spec(text).draw() for text in call["inputs"]]
        names = {"torch": torch, "F": torch.nn.functional} | {f"x{i}": tensor for i, tensor in enumerate(inputs)}
        usual = eval(call["call"], names)
        torch.backends.cudnn.allow_tf32 = False
        off = eval(call["call"], names).sub_(usual)
        return bool(torch.linalg.vector_norm(off) <= APART * torch.linalg.vector_norm(usual))
    except RuntimeError:  # torch's and cuDNN's, a full memory among them
        return False
    finally:
        torch.backends.cudnn.allow_tf32 = allowed


def in_full_f32(calls: list[dict[str, Any]], device: Device) -> list[bool]:
    """One answer a call. Where TF32 is switched off, or there is none, all is in f32."""
    with torch.no_grad():
        return [same_without_tf32(call, device) for call in calls]
