"""Arguments and results on disk: `tree.json` (structure and types) and `data.bin` (the bytes of all tensors).

No pickle: the referee reads what a candidate's process wrote, so a file must not be able to run code.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

Tree = dict[str, Any]


class BlobError(Exception):
    """A value that cannot be written, or files that do not hold one."""


def bytes_of(tensor: torch.Tensor) -> memoryview:
    """The memory of a contiguous CPU tensor."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())) if size else memoryview(b"")


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """Detached, on the host, contiguous, without lazy conjugation or negation."""
    return tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()


def digest(value: Any) -> str:
    """A hash of all values in a structure, bit for bit."""
    state = hashlib.sha256()
    for leaf in leaves(value):
        if isinstance(leaf, torch.Tensor):
            data = dense(leaf)
            state.update(f"{data.dtype}{tuple(data.shape)}".encode())
            state.update(bytes_of(data))
        else:
            state.update(repr(leaf).encode())
    return state.hexdigest()


def leaves(value: Any) -> list[Any]:
    """Tensors and scalars of a structure of lists, tuples and mappings, in order."""
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def save(value: Any, folder: Path) -> None:
    """Writes a structure of tensors and scalars; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "data.bin").open("wb") as data:
        tree = _encode(value, data)
    (folder / "tree.json").write_text(json.dumps(tree))


def load(folder: Path) -> Any:
    """Reads a structure into fresh memory, with the strides it had."""
    tree = json.loads((folder / "tree.json").read_text())
    with (folder / "data.bin").open("rb") as data:
        return _decode(tree, data)


def _encode(value: Any, data: Any) -> Tree:
    if isinstance(value, torch.Tensor):
        dense_value = dense(value)
        start = data.tell()
        data.write(bytes_of(dense_value))
        overlaps = any(step == 0 and size > 1 for step, size in zip(value.stride(), value.shape, strict=True))
        stride = None if value.is_contiguous() or overlaps else list(value.stride())
        return {"dtype": str(value.dtype)[6:], "shape": list(value.shape), "stride": stride, "at": start}
    if isinstance(value, Mapping):
        return {"dict": [[str(key), _encode(part, data)] for key, part in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(part, data) for part in value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    raise BlobError(f"cannot pass a {type(value).__name__} between processes")


def _decode(tree: Tree, data: Any) -> Any:
    if "dict" in tree:
        return {key: _decode(part, data) for key, part in tree["dict"]}
    if "list" in tree:
        return [_decode(part, data) for part in tree["list"]]
    if "float" in tree:
        return float(tree["float"])
    if "value" in tree:
        return tree["value"]
    return _read_tensor(tree, data)


def _read_tensor(tree: Tree, data: Any) -> torch.Tensor:
    dtype = getattr(torch, tree["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise BlobError(f"unknown type {tree['dtype']}")
    tensor = torch.empty(tree["shape"], dtype=dtype)
    data.seek(tree["at"])
    target = bytes_of(tensor).cast("B") if tensor.numel() else bytearray()
    if data.readinto(target) != len(target):
        raise BlobError("a tensor's bytes are missing")
    if tree["stride"] is None:
        return tensor
    return torch.empty_strided(tree["shape"], tree["stride"], dtype=dtype).copy_(tensor)
