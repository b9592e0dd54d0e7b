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
    attribute; `earlier`: where a result of an earlier call lies that its caller still holds, other than as an argument."""

    arguments: Flags
    module: Flags
    earlier: Flags

    @classmethod
    def of(cls, result: Any, arguments: Iterable[torch.Tensor], module: Iterable[torch.Tensor]) -> Shared:
        found = tensors(result)
        return cls(aliasing(found, arguments), aliasing(found, module), [False] * len(found))

    @property
    def any(self) -> Flags:
        return either(self.loose, self.module)

    @property
    def loose(self) -> Flags:
        """Which may change while more calls are made: arguments may lie where the last ones lay."""
        return either(self.arguments, self.earlier)

    def also(self, other: Shared, again: Flags) -> None:
        """What the result of a later call shares, which lies where an earlier one did where `again` says so."""
        if len(again) == len(self.earlier):
            self.arguments, self.module = either(self.arguments, other.arguments), either(self.module, other.module)
            anew = [lies and not given for lies, given in zip(again, self.arguments, strict=True)]
            self.earlier = either(self.earlier, anew)


class Returned:
    """The memory in which results lay, without holding it."""

    def __init__(self) -> None:
        self.seen: list[StorageWeakRef] = []

    def note(self, result: Any, copies: list[Any], given: Flags) -> None:
        """But for what is an argument's (`given`), and what some of the `copies` of its leaves hold: that is with whoever asks."""
        copied = [copy for leaf, copy in zip(leaves(result), copies, strict=False) if isinstance(leaf, torch.Tensor)]
        for tensor, copy, passed_on in zip(tensors(result), copied, given, strict=True):
            if tensor.numel() and not passed_on and copy.data_ptr() != tensor.data_ptr():
                self.seen.append(StorageWeakRef(tensor.untyped_storage()))

    def kept(self) -> bool:
        """Does somebody hold any of it?"""
        return any(not one.expired() for one in self.seen)

    def again(self, result: Any) -> Flags:
        """Which tensors of a later result lie there? An address that was freed and given out once more is other memory."""
        known = {one.cdata for one in self.seen if not one.expired()}
        return [tensor.numel() > 0 and tensor.untyped_storage()._cdata in known for tensor in tensors(result)]


def either(some: Flags, others: Flags) -> Flags:
    return [a or b for a, b in zip(some, others, strict=True)]
