"""What eager's own results share memory with: a candidate's may share the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from mtmc.wire.blobs import leaves
from mtmc.wire.outputs import aliasing, tensors

Flags = list[bool]  # for each tensor of a result, in order


@dataclass
class Shared:
    """`arguments`: which tensors of a result lie in the memory of an argument; `module`: in that of a weight, a buffer or a plain
    attribute; `earlier`: where a result of an earlier call lies that its caller still holds."""

    arguments: Flags
    module: Flags
    earlier: Flags

    @classmethod
    def of(cls, result: Any, arguments: Iterable[torch.Tensor], module: Iterable[torch.Tensor]) -> Shared:
        found = tensors(result)
        given = aliasing(found, arguments)
        return cls(given, aliasing(found, module), list(given))  # arguments may lie where the last ones lay

    @property
    def any(self) -> Flags:
        return either(either(self.arguments, self.module), self.earlier)

    def also(self, other: Shared, again: Flags) -> None:
        """What the result of a later call shares, which lies where an earlier one did where `again` says so."""
        if len(other.any) == len(self.any):
            self.arguments, self.module = either(self.arguments, other.arguments), either(self.module, other.module)
            self.earlier = either(either(self.earlier, other.earlier), again)


class Returned:
    """The memory in which results lay, without holding it."""

    def __init__(self) -> None:
        self.seen: list[StorageWeakRef] = []

    def note(self, result: Any, copies: list[Any]) -> None:
        """`copies` of its leaves, some of which may be the same memory: that is held by whoever asks."""
        for leaf, copy in zip(leaves(result), copies, strict=False):
            if isinstance(leaf, torch.Tensor) and leaf.numel() and copy.data_ptr() != leaf.data_ptr():
                self.seen.append(StorageWeakRef(leaf.untyped_storage()))

    def kept(self) -> bool:
        """Does somebody hold any of it?"""
        return any(not one.expired() for one in self.seen)

    def again(self, result: Any) -> Flags:
        """Which tensors of a later result lie there? An address that was freed and given out once more is other memory."""
        known = {one.cdata for one in self.seen if not one.expired()}
        return [tensor.numel() > 0 and tensor.untyped_storage()._cdata in known for tensor in tensors(result)]


def either(some: Flags, others: Flags) -> Flags:
    return [a or b for a, b in zip(some, others, strict=True)]
