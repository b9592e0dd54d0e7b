"""What a structure of tensors and scalars holds, as a hash."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import torch

from mtmc.device import one_pass
from mtmc.wire import blobs

HASHED_ON_DEVICE = 1 << 16  # bytes; smaller tensors are copied to the host for it
CHUNK = 1 << 22  # eight-byte words that are mixed at a time: on a GPU they stay in its L2


def digest(value: Any) -> str:
    """A hash of all values in a structure, bit for bit. Of large tensors of a GPU: by `Mixer`, comparable within this
    process only."""
    state = hashlib.sha256()
    for leaf in blobs.leaves(value):
        if isinstance(leaf, torch.Tensor):
            state.update(f"{leaf.dtype}{tuple(leaf.shape)}".encode())
            if leaf.is_cuda and leaf.numel() * leaf.element_size() >= HASHED_ON_DEVICE:
                state.update(MIXER.mix(blobs.plain(leaf)))
            else:
                data = blobs.dense(leaf)
                state.update(blobs.bytes_of(data))
        else:
            state.update(repr(float(leaf) if isinstance(leaf, float) else leaf).encode())
    return state.hexdigest()


class Mixer:
    """Two 64-bit sums over mixed words and their places; the odd factors are this process's secret."""

    def __init__(self) -> None:
        self.factors = [secrets.randbits(63) | 1 for _ in range(4)]

    def mix(self, tensor: torch.Tensor) -> bytes:
        flat = tensor.reshape(-1).view(torch.uint8)
        whole = flat.numel() // 8 * 8
        words = flat[:whole]
        if words.data_ptr() % 8:
            words = words.clone()
        words = words.view(torch.int64)
        sums = one_pass.mix(words, self.factors)
        if sums is None:
            sums = self.mixed(words)
        return repr(sums.tolist() + flat[whole:].tolist()).encode()

    def mixed(self, words: torch.Tensor) -> torch.Tensor:
        """By torch's operators."""
        sums = torch.zeros(2, dtype=torch.int64, device=words.device)
        place, first, second, third = self.factors
        for start in range(0, words.numel(), CHUNK):
            part = words[start : start + CHUNK]
            mixed = torch.arange(start + 1, start + 1 + part.numel(), device=part.device).mul_(place).bitwise_xor_(part)
            mixed = mixed.bitwise_xor_(mixed >> 31).mul_(first)
            mixed = mixed.bitwise_xor_(mixed >> 29)
            sums[0] += (mixed * second).sum()
            sums[1] += mixed.bitwise_xor_(mixed >> 32).mul_(third).sum()
        return sums


MIXER = Mixer()
