"""Memory: the pattern of what is fresh, the words for what is full, and giving back what nobody uses."""

from __future__ import annotations

import re
import time

import torch

from mtmc.device.turn import shared

UNUSED_BYTES = 1 << 30  # of the GPU's memory, which a process may sit on in any case
# Else it gives back what it does not use where less than this part of all memory is free, or where that is so large a part. Not
# sooner: beside processes that get ready the driver takes up to two seconds for some gigabytes, ten on a host of four GPUs, and as
# long to find them again: more than half of what the referee did for MSELoss (4 GB an argument), by samples of its stack.
ENOUGH, PART_UNUSED = 0.25, 1 / 3
ENOUGH_SHARED, PART_UNUSED_SHARED = 0.5, 1 / 8  # beside other searches
ASKED_SECONDS = 0.05  # it takes two milliseconds to say how much is free: it is asked so often
NO_MEMORY = re.compile(
    r"can't allocate memory|not enough memory|out of memory|bad_alloc|ALLOC_FAILED|STATUS_NOT_INITIALIZED",
    re.IGNORECASE,
)
POISON = 0xFE  # the pattern of fresh memory, byte by byte: fp32 -1.7e38, fp16 nan, bf16 -1.7e38, integers far from zero


_asked = -ASKED_SECONDS  # when the driver was


def is_full(error: BaseException) -> bool:
    """Does an error say that there is not enough memory?"""
    return isinstance(error, MemoryError) or NO_MEMORY.search(str(error)) is not None


def release(enough: float | None = None) -> None:
    """Gives back what torch's allocator holds of the GPU's memory and nobody uses, where it is much and less than this part of
    all memory is free, or it is a great deal: several processes work on the same gigabytes."""
    if not torch.cuda.is_initialized():
        return
    held = torch.cuda.memory_stats_as_nested_dict()  # a flat list of the same would be sorted first, each time
    unused = held["reserved_bytes"]["all"]["current"] - held["allocated_bytes"]["all"]["current"]
    if unused > UNUSED_BYTES:
        global _asked
        if enough is None and time.monotonic() < _asked + ASKED_SECONDS:
            return
        _asked = time.monotonic()
        free, of_all = torch.cuda.mem_get_info()
        least, most = (ENOUGH_SHARED, PART_UNUSED_SHARED) if shared() else (ENOUGH, PART_UNUSED)
        if free < (least if enough is None else enough) * of_all or unused > most * of_all:
            torch.cuda.empty_cache()
