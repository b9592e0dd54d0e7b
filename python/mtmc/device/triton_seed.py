"""What Triton builds once for all kernels (its helper for the driver, a launcher), made by the judge itself: candidates get
a copy, so that none has to wait for the C compiler, and none can put anything there for another. It takes the judge some
seconds, so it is kept in the user's cache between runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch


def fill(folder: Path) -> None:
    """This folder is a Triton cache that knows the helpers from here on; nothing happens where Triton is missing."""
    if folder.exists():
        return
    try:
        version = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return
    kept = _kept(version)
    with tempfile.TemporaryDirectory(dir=folder.parent) as own:  # others may look for the folder at the same moment
        made = Path(own) / "seed"
        if kept is not None and kept.is_dir():
            shutil.copytree(kept, made)
        else:
            _build(made)
            if kept is not None and made.is_dir():
                _keep(made, kept)
        if made.is_dir():
            with contextlib.suppress(OSError):  # another was faster
                made.rename(folder)


def _kept(version: str) -> Path | None:
    """Where it is kept for this Triton, Python and GPU; None where nothing can be kept."""
    home = os.environ.get("HOME", "")
    if not home:
        return None
    gpu = (torch.cuda.get_device_name(), torch.cuda.get_device_capability())
    text = repr((version, torch.__version__, sys.version, sys.executable, gpu))
    return Path(home) / ".cache/mtmc/triton" / hashlib.sha256(text.encode()).hexdigest()[:16]


def _keep(folder: Path, kept: Path) -> None:
    """All or nothing: others may look for it at the same moment. Who cannot write there goes without."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as own:
            shutil.copytree(folder, Path(own) / "seed")
            (Path(own) / "seed").rename(kept)
    except OSError:
        return


def _build(folder: Path) -> None:
    """Runs one small kernel with this cache folder."""
    before = os.environ.get("TRITON_CACHE_DIR")
    os.environ["TRITON_CACHE_DIR"] = str(folder)
    try:
        from mtmc.device.triton_seed_kernel import run

        run(torch.zeros(64, device="cuda"))
        torch.cuda.synchronize()
    finally:
        del os.environ["TRITON_CACHE_DIR"]
        if before is not None:
            os.environ["TRITON_CACHE_DIR"] = before
