"""What Triton builds once for all kernels (its helper for the driver, a launcher), made by the judge itself: candidates get
a copy, so that none has to wait for the C compiler, and none can put anything there for another.
"""

from __future__ import annotations

import os
from pathlib import Path

import torch


def fill(folder: Path) -> None:
    """Runs one small kernel with this cache folder; nothing happens where Triton is missing."""
    if folder.exists():
        return
    before = os.environ.get("TRITON_CACHE_DIR")
    os.environ["TRITON_CACHE_DIR"] = str(folder)
    try:
        from mtmc.device.triton_seed_kernel import run
    except ImportError:
        return
    try:
        run(torch.zeros(64, device="cuda"))
        torch.cuda.synchronize()
    finally:
        del os.environ["TRITON_CACHE_DIR"]
        if before is not None:
            os.environ["TRITON_CACHE_DIR"] = before
