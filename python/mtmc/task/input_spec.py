"""Inputs described in text: `f32[64,512]`, `i64[32]<1000` (integers below a bound, 10 when none is given), `bool[8]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch

from mtmc.wire.task_error import TaskError

DTYPES: dict[str, torch.dtype] = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}
PATTERN = re.compile(r"\s*([a-z]+\d*)\s*\[([\d\s,]*)\]\s*(?:<\s*(\d+))?\s*")
WANTED = "a type and a shape such as f32[64,512] or i64[32]<1000; types: " + " ".join(DTYPES)


@dataclass(frozen=True)
class InputSpec:
    """One tensor argument; `bound` is the exclusive upper bound of integers."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    bound: int = 10

    def draw(self) -> torch.Tensor:
        """A tensor from the global generator: normal for floats, uniform below the bound for integers."""
        if self.dtype.is_floating_point:
            return torch.randn(self.shape).to(self.dtype)
        bound = 2 if self.dtype == torch.bool else self.bound
        return torch.randint(0, bound, self.shape).to(self.dtype)


def parse_input(text: str) -> InputSpec:
    match = PATTERN.fullmatch(text)
    if match is None or match[1] not in DTYPES:
        raise TaskError("reading an input", "not a type and a shape", repr(text), WANTED)
    sizes = [part.strip() for part in match[2].split(",")] if match[2].strip() else []
    if "" in sizes or match[3] == "0":
        raise TaskError("reading an input", "a size is missing or a bound is 0", repr(text), WANTED)
    return InputSpec(DTYPES[match[1]], tuple(int(size) for size in sizes), int(match[3] or 10))
