"""What is found out about large tensors of a GPU in one pass over them: torch's operators need twenty, a candidate's gigabyte
is measured sixty times, and most of a certification would be that.

Every function returns None where torch's operators must do: without Triton, on the host, for what is not contiguous. Numbers that
are not finite are counted, not measured: who meets some asks torch.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import torch

from mtmc.device.memory import POISON

LEAST = 1 << 16  # elements
BLOCK, STEP = 1 << 16, 2048  # elements of one program of `differ`, and of one of its steps
MIXED = 4096  # eight-byte words
FACTORS = [(1 << 62) + 1] * 4  # of the first call, which tells whether kernels can be compiled: of the type of others
TILE, PROGRAMS = 2048, 16  # elements of `measure` at a time, less than 2^12; programs for each multiprocessor
CUTS = 32, 256, TILE  # columns of such a tile
FEW_ROWS, LONG_ROW = 256, 1 << 15  # fewer rows than that, of more elements, leave most of a GPU idle
STEPS, LEAST_IN_ROW = 9, 4  # as in mtmc/referee/tails.py


@cache
def kernels() -> ModuleType | None:
    """None, and a line that says why, where they cannot be had."""
    if importlib.util.find_spec("triton") is None:
        return None
    from mtmc.device import one_pass_kernels

    if torch.cuda.is_available():
        words, sums = (torch.zeros(2, dtype=torch.int64, device="cuda") for _ in range(2))
        try:
            one_pass_kernels._mix[(1,)](words, sums, 2, *FACTORS, block=MIXED, num_warps=8)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            # No C compiler, no folder to write to, another Triton: whatever it is, the other kernels fail, too.
            print(f"mtmc: the referee's own kernels cannot be compiled, torch's operators do: {error}", file=sys.stderr)
            return None
    return one_pass_kernels


def _fit(*all_of_them: torch.Tensor) -> bool:
    first = all_of_them[0]
    return (
        first.numel() >= LEAST
        and first.is_floating_point()
        and all(x.is_cuda and x.is_contiguous() and x.shape == first.shape for x in all_of_them)
        and kernels() is not None
    )


def _bits(x: torch.Tensor) -> dict[str, object]:
    """How the elements are compared bit for bit, and the pattern of fresh memory as one of them."""
    import triton.language as tl

    width = x.element_size()
    pattern = int.from_bytes(bytes([POISON] * width), "little", signed=True)
    return {"bits": {2: tl.int16, 4: tl.int32, 8: tl.int64}[width], "pattern": pattern}


def mix(words: torch.Tensor, factors: list[int]) -> torch.Tensor | None:
    """The two sums of `Mixer` over contiguous 64-bit words."""
    made = kernels() if words.is_cuda else None
    return None if made is None else run_mix(words, factors)


def run_mix(words: torch.Tensor, factors: list[int]) -> torch.Tensor:
    sums = torch.zeros(2, dtype=torch.int64, device=words.device)
    grid = (-(-words.numel() // MIXED),)
    made = kernels()
    assert made is not None
    made._mix[grid](words, sums, words.numel(), *factors, block=MIXED, num_warps=8)
    return sums


@dataclass
class Blocks:
    """Of two tensors, block by block in the order of memory, on the host; and of all together."""

    largest: torch.Tensor  # the largest |c - e|
    squares: torch.Tensor  # the sum of (c - e)^2
    top: float  # the largest |e|
    official_bad: int
    legacy_bad: int
    exact: bool
    poison: int
    strange: int  # elements that are not finite in one of them


def differ(
    c: torch.Tensor, e: torch.Tensor, axis: int, known: torch.Tensor, rules: tuple[float, float]
) -> Blocks | None:
    """`known`: samples along `axis` that do not count as differences. `rules`: the official tolerance and the legacy one."""
    if not _fit(c, e) or e.element_size() not in (2, 4) or c.dtype != e.dtype:
        return None
    return run_differ(c, e, axis, known, rules)


def run_differ(c: torch.Tensor, e: torch.Tensor, axis: int, known: torch.Tensor, rules: tuple[float, float]) -> Blocks:
    made, count, size = kernels(), e.numel(), e.shape[axis]
    assert made is not None
    is_known = torch.zeros(size, dtype=torch.uint8, device=e.device)
    is_known[known] = 1
    blocks = -(-count // BLOCK)
    found = torch.empty(blocks, 8, dtype=torch.float64, device=e.device)
    inner = e[(0,) * (axis + 1)].numel()
    made._differ[(blocks,)](
        c, e, is_known, found, count, inner, size, *rules,
        **_bits(e), narrow=count < 2**31 - BLOCK, block=BLOCK, step=STEP, num_warps=8,
    )  # fmt: skip
    told = found.cpu()
    bad, worse, other, fresh, strange = (int(x) for x in told[:, 3:].sum(0).tolist())
    return Blocks(told[:, 0], told[:, 1], float(told[:, 2].max()), bad, worse, other == 0, fresh, strange)


@dataclass
class Measured:
    error: float  # the norm of c - t
    norm_truth: float
    max_error: float
    max_truth: float
    official_bad: int
    legacy_bad: int
    elements: list[int]  # as tails.py counts
    rows: list[int] | None
    exact: bool
    poison: int


def measure(
    c: torch.Tensor, e: torch.Tensor, t: torch.Tensor, rules: tuple[float, float], smallest: float, rounding: float
) -> Measured | None:
    """A candidate's c and eager's e against the truth t. `smallest`, `rounding`: what is too small to tell, by itself and beside the
    largest |t|. None, too, where something is not finite, or as large or small as squares in double can be."""
    if not _fit(c, e, t) or c.dtype != e.dtype or t.dtype != torch.float64:
        return None
    width = e.shape[-1] if e.dim() > 1 else 1
    rows = e.numel() // width
    if (width > LONG_ROW and rows < FEW_ROWS) or rows >= 1 << 30:
        return None
    return run_measure(c, e, t, rules, smallest, rounding)


def run_measure(
    c: torch.Tensor, e: torch.Tensor, t: torch.Tensor, rules: tuple[float, float], smallest: float, rounding: float
) -> Measured | None:
    made, has_rows = kernels(), e.dim() > 1 and e.shape[-1] > 1
    assert made is not None
    count = e.numel()
    width = e.shape[-1] if has_rows else TILE
    rows = -(-count // width)
    wide = next(size for size in CUTS if width <= size or size == TILE)
    tall = TILE // wide
    floor = torch.stack(torch.aminmax(t)).abs().max().mul(rounding).clamp(min=smallest)
    limits = torch.stack([floor, floor * width**0.5, *(floor.new_tensor(rule) for rule in rules)])
    multiprocessors = torch.cuda.get_device_properties(e.device).multi_processor_count if e.is_cuda else 1
    programs = min(-(-rows // tall), PROGRAMS * multiprocessors)
    found = torch.empty(programs, 40, dtype=torch.float64, device=e.device)
    least = LEAST_IN_ROW if width >= LEAST_IN_ROW else 0
    made._measure[(programs,)](
        c, e, t, limits, found, rows, width, count, least, **_bits(e), tall=tall, wide=wide, num_warps=8
    )
    told = found.cpu()
    sums, tops = told.sum(0).tolist(), told[:, 2:4].max(0).values.tolist()
    *elements, touched, other, fresh, strange, bad, worse = (int(x) for x in sums[8:23])
    in_range = all(1e-200 < square < 1e200 or top == 0 for square, top in zip(sums[:2], tops, strict=True))
    if strange or not in_range:
        return None
    of_rows = [int(x) for x in (sums[5], *sums[24 : 24 + STEPS])] if sums[6] else [rows] + [0] * STEPS
    return Measured(
        error=sums[0] ** 0.5,
        norm_truth=sums[1] ** 0.5,
        max_error=tops[0],
        max_truth=tops[1],
        official_bad=bad,
        legacy_bad=worse,
        elements=[int(sums[4]), *elements] if touched else [count] + [0] * STEPS,
        rows=of_rows if has_rows else None,
        exact=other == 0,
        poison=fresh,
    )
