"""Arguments and results on disk: `tree.json` (structure, types and devices) and `data.bin` (the bytes of all tensors).

No pickle: the referee reads what a candidate's process wrote, so a file must not be able to run code; see foreign.py. A
tensor of the GPU is given back on the GPU. The files lie in memory; gigabytes pass through pinned memory, piece by piece.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import random
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

Tree = dict[str, Any]
ALIGNED = 64  # bytes: where tensors begin in the file
HASHED_ON_DEVICE = 1 << 16  # bytes; smaller tensors are copied to the host for it
STAGE_BYTES = 32 << 20
STAGES = threading.local()  # a thread's pinned memory, once it is needed
CHUNK = 1 << 24  # eight-byte words that are mixed at a time


class BlobError(Exception):
    """A value that cannot be written, or files that do not hold one."""


def bytes_of(tensor: torch.Tensor) -> memoryview:
    """The memory of a contiguous CPU tensor, which the caller must keep."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())) if size else memoryview(b"")


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """Detached, contiguous, without lazy conjugation or negation, where it is."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous()


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """As `plain`, on the host."""
    return plain(tensor).cpu()


def moved(value: Any, where: torch.device) -> Any:
    """A structure with all its tensors on a device. Tuples stay tuples: forward may ask."""
    if isinstance(value, torch.Tensor):
        return value.to(where)
    if isinstance(value, Mapping):
        return {key: moved(part, where) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [moved(part, where) for part in value]
        return parts if isinstance(value, list) else value._make(parts) if hasattr(value, "_make") else tuple(parts)
    return value


def digest(value: Any, seed: str | None = None) -> str:
    """A hash of all values in a structure, bit for bit. Of large tensors of a GPU: by `Mixer`, comparable within this
    process, or among all that were given the same seed."""
    mixer = MIXER if seed is None else Mixer(seed)
    state = hashlib.sha256()
    for leaf in leaves(value):
        if isinstance(leaf, torch.Tensor):
            state.update(f"{leaf.dtype}{tuple(leaf.shape)}".encode())
            if leaf.is_cuda and leaf.numel() * leaf.element_size() >= HASHED_ON_DEVICE:
                state.update(mixer.mix(plain(leaf)))
            else:
                data = dense(leaf)
                state.update(bytes_of(data))
        else:
            state.update(repr(float(leaf) if isinstance(leaf, float) else leaf).encode())
    return state.hexdigest()


class Mixer:
    """Two 64-bit sums over mixed words and their places; the odd factors are this process's secret where no seed is given."""

    def __init__(self, seed: str | None = None) -> None:
        bits = secrets.randbits if seed is None else random.Random(seed).getrandbits
        self.factors = [bits(63) | 1 for _ in range(4)]

    def mix(self, tensor: torch.Tensor) -> bytes:
        flat = tensor.reshape(-1).view(torch.uint8)
        whole = flat.numel() // 8 * 8
        words = flat[:whole]
        if words.storage_offset() % 8:
            words = words.clone()
        words = words.view(torch.int64)
        sums = torch.zeros(2, dtype=torch.int64, device=tensor.device)
        place, first, second, third = self.factors
        for start in range(0, words.numel(), CHUNK):
            part = words[start : start + CHUNK]
            mixed = torch.arange(start + 1, start + 1 + part.numel(), device=part.device).mul_(place).bitwise_xor_(part)
            mixed = mixed.bitwise_xor_(mixed >> 31).mul_(first)
            mixed = mixed.bitwise_xor_(mixed >> 29)
            sums[0] += (mixed * second).sum()
            sums[1] += mixed.bitwise_xor_(mixed >> 32).mul_(third).sum()
        return repr(sums.tolist() + flat[whole:].tolist()).encode()


MIXER = Mixer()


def leaves(value: Any) -> list[Any]:
    """Tensors and scalars of a structure of lists, tuples and mappings, in order."""
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def structure_of(value: Any) -> str:
    """`[tensor, {a: tensor}]`: lists and tuples are alike."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {structure_of(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(structure_of(part) for part in value) + "]"
    return "tensor" if isinstance(value, torch.Tensor) else type(value).__name__


def save(value: Any, folder: Path) -> None:
    """Writes a structure of tensors and scalars; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "data.bin").open("wb") as data:
        tree = _encode(value, data)
    (folder / "tree.json").write_text(json.dumps(tree))


def save_changes(value: Any, base: Any, name: str, folder: Path) -> None:
    """Writes only where a structure of large tensors differs from another one of that name, which readers have kept."""
    changes = []
    for new, old in zip(leaves(value), leaves(base), strict=True):
        if isinstance(new, torch.Tensor):
            flat = new.reshape(-1)
            places = (flat != old.reshape(-1)).nonzero().reshape(-1)
            changes.append([places, flat[places]])
    save(changes, folder)
    (folder / "base").write_text(name)


def load_over(folder: Path, bases: dict[str, Any]) -> Any:
    """As `load`, for folders that `save_changes` may have written; `bases` keeps the last large structure that was whole."""
    if not (folder / "base").exists():
        value = load(folder)
        if (folder / "keep").exists():
            bases.clear()
            bases[(folder / "keep").read_text()] = copied(value)
        return value
    value = copied(bases[(folder / "base").read_text()])
    tensors = [leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor)]
    for tensor, (places, values) in zip(tensors, load(folder), strict=True):
        tensor.view(-1)[places] = values
    return value


def copied(value: Any) -> Any:
    """Fresh memory for every tensor of a structure; contiguous."""
    if isinstance(value, torch.Tensor):
        return value.clone(memory_format=torch.contiguous_format)
    if isinstance(value, Mapping):
        return {key: copied(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(part) for part in value]
    return value


def load(folder: Path) -> Any:
    """Reads a structure into fresh memory, with the strides and on the devices that it had."""
    tree = json.loads((folder / "tree.json").read_text())
    with (folder / "data.bin").open("rb") as data:
        return decode(tree, data)


def _encode(value: Any, data: Any) -> Tree:
    if isinstance(value, torch.Tensor):
        start = -(-data.tell() // ALIGNED) * ALIGNED
        data.seek(start)
        if value.is_cuda:
            write_in_pieces(plain(value), data)
        else:
            on_host = dense(value)
            data.write(bytes_of(on_host))
        overlaps = any(step == 0 and size > 1 for step, size in zip(value.stride(), value.shape, strict=True))
        stride = None if value.is_contiguous() or overlaps else list(value.stride())
        tree = {"dtype": str(value.dtype)[6:], "shape": list(value.shape), "stride": stride, "at": start}
        return tree if value.device.type == "cpu" else {**tree, "device": value.device.type}
    if isinstance(value, Mapping):
        return {"dict": [[str(key), _encode(part, data)] for key, part in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(part, data) for part in value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    raise BlobError(f"cannot pass a {type(value).__name__} between processes")


def stage() -> torch.Tensor:
    """Pinned memory of this thread, which takes long to be had the first time."""
    if not hasattr(STAGES, "memory"):
        STAGES.memory = torch.empty(STAGE_BYTES, dtype=torch.uint8, pin_memory=torch.cuda.is_available())
    return STAGES.memory


def write_in_pieces(value: torch.Tensor, data: Any) -> None:
    """Writes a contiguous tensor of any device where the file stands. By one thread: others would wait for the file's lock,
    and filling a mapping takes longer than writing, since each of its pages is asked for apart."""
    for part in value.reshape(-1).view(torch.uint8).split(STAGE_BYTES):
        data.write(bytes_of(stage()[: part.numel()].copy_(part)))


def decode(tree: Tree, data: Any, readers: int = 1) -> Any:
    """The structure that a tree describes, its tensors read from the file."""
    if "dict" in tree:
        return {key: decode(part, data, readers) for key, part in tree["dict"]}
    if "list" in tree:
        return [decode(part, data, readers) for part in tree["list"]]
    if "float" in tree:
        return float(tree["float"])
    if "value" in tree:
        return tree["value"]
    return _read_tensor(tree, data, readers)


def _read_tensor(tree: Tree, data: Any, readers: int) -> torch.Tensor:
    dtype = getattr(torch, tree["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise BlobError(f"unknown type {tree['dtype']}")
    where = tree.get("device", "cpu")
    if where not in ("cpu", "cuda"):
        raise BlobError(f"unknown device {where}")
    tensor = torch.empty(tree["shape"], dtype=dtype, device=where)
    if not tensor.is_cuda:
        data.seek(tree["at"])
        target = bytes_of(tensor).cast("B") if tensor.numel() else bytearray()
        if data.readinto(target) != len(target):
            raise BlobError("a tensor's bytes are missing")
    else:
        read_in_pieces(tensor, data, tree["at"], readers)
    if tree["stride"] is None:
        return tensor
    return torch.empty_strided(tree["shape"], tree["stride"], dtype=dtype, device=where).copy_(tensor)


def read_in_pieces(tensor: torch.Tensor, data: Any, start: int, readers: int = 1) -> None:
    """Fills a contiguous tensor of any device. The file may lose bytes meanwhile. `readers`: threads, which a candidate's
    process must not start: what starts them could be its own by then."""
    flat = tensor.reshape(-1).view(torch.uint8)
    starts = range(0, flat.numel(), STAGE_BYTES)

    def read(at: int) -> bool:
        part = flat[at : at + STAGE_BYTES]
        staged = stage()[: part.numel()]
        if readers > 1:
            count = os.preadv(data.fileno(), [bytes_of(staged)], start + at)
        else:
            count = data.readinto(bytes_of(staged).cast("B"))
        part.copy_(staged)
        return count == part.numel()

    if readers > 1 and len(starts) > 1:
        with ThreadPoolExecutor(readers) as pool:
            complete = all(pool.map(read, starts))
    else:
        data.seek(start)
        complete = all(map(read, starts))
    if not complete:
        raise BlobError("a tensor's bytes are missing")
