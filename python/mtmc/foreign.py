"""Reads what a candidate's process saved in its own folder, where by now anything may lie: links, pipes, other files than were
saved. Whatever is wrong with it is a ForeignError.
"""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

import torch

from mtmc import blobs
from mtmc.task_error import first_line

TREE_BYTES = 64 << 20  # of a description
READERS = 4  # threads that read one large result


class ForeignError(Exception):
    """What was saved is missing, cannot be read, or is something else."""


def digest_of(value: Any, folder: Path) -> str:
    """What whoever saves it there says of it. Values of one digest are saved once."""
    tensors = [leaf for leaf in blobs.leaves(value) if isinstance(leaf, torch.Tensor)]
    outside = [blobs.structure_of(value), *(tensor.device.type for tensor in tensors)]
    return blobs.digest([outside, value], folder.name)


def load(folder: Path, name: str, digest: str) -> Any:
    """The structure that was saved as `name` in the folder, with this digest."""
    try:
        value = _read(folder, name)
    except (blobs.BlobError, ValueError, LookupError, TypeError, ArithmeticError, OSError, RuntimeError) as error:
        raise ForeignError(f"the saved output cannot be read: {first_line(error)}") from error
    if digest_of(value, folder) != digest:
        raise ForeignError("the saved output is not what was returned")
    return value


def _read(folder: Path, name: str) -> Any:
    outer = _open(folder, None, os.O_DIRECTORY)
    try:
        inner = _open(name, outer, os.O_DIRECTORY)
    finally:
        os.close(outer)
    try:
        with _file(inner, "tree.json") as file:
            text = file.read(TREE_BYTES + 1)
        with _file(inner, "data.bin") as data:
            if len(text) > TREE_BYTES:
                raise blobs.BlobError("a description of more than 64 MiB")
            tree = json.loads(text)
            if _bytes(tree) > os.fstat(data.fileno()).st_size:
                raise blobs.BlobError("a tensor's bytes are missing")
            return blobs.decode(tree, data, READERS)
    finally:
        os.close(inner)


def _open(path: str | Path, at: int | None, flags: int) -> int:
    """Follows no link there, and does not wait for whoever writes to a pipe."""
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | flags, dir_fd=at)


def _file(folder: int, name: str) -> BinaryIO:
    file = os.fdopen(_open(name, folder, 0), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise blobs.BlobError(f"{name} is no file")
    return file


def _bytes(tree: Any) -> int:
    """Of all tensors together: none shares its bytes with another, so that no small file can fill the memory."""
    if "dict" in tree:
        return sum(_bytes(part) for _, part in tree["dict"])
    if "list" in tree:
        return sum(map(_bytes, tree["list"]))
    if "shape" not in tree:
        return 0
    dtype = getattr(torch, tree["dtype"], None)
    if not isinstance(dtype, torch.dtype) or not all(isinstance(size, int) and size >= 0 for size in tree["shape"]):
        raise blobs.BlobError("neither a type nor a shape")
    return math.prod(tree["shape"]) * dtype.itemsize
