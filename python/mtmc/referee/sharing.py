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
# Tensors of earlier results, by their number, and how often each was written to.
Versions = list[tuple[int, torch.Tensor, int]]


@dataclass
class Shared:
    """`arguments`: which tensors of a result lie in the memory of an argument; `module`: in that of a weight, a buffer or a plain
    attribute; `earlier`: where a result of an earlier call lies that its caller still holds, other than as an argument;
    `written`: which a later call has written to."""

    arguments: Flags
    module: Flags
    earlier: Flags
    written: Flags

    @classmethod
    def of(cls, result: Any, arguments: Iterable[torch.Tensor], module: Iterable[torch.Tensor]) -> Shared:
        found = tensors(result)
        return cls(aliasing(found, arguments), aliasing(found, module), [False] * len(found), [False] * len(found))

    @property
    def any(self) -> Flags:
        return either(either(self.loose, self.earlier), self.module)

    @property
    def loose(self) -> Flags:
        """Which may change while more calls are made: arguments may lie where the last ones lay."""
        return either(self.arguments, self.written)

    def also(self, other: Shared, again: Flags, before: Versions) -> None:
        """What the result of a later call shares, which lies where an earlier one did where `again` says so, and whose call may have
        written to those before it."""
        if len(again) == len(self.earlier):
            self.arguments, self.module = either(self.arguments, other.arguments), either(self.module, other.module)
            anew = [lies and not given for lies, given in zip(again, self.arguments, strict=True)]
            self.earlier = either(self.earlier, anew)
            changed = {number for number, tensor, version in before if version_of(tensor) != version}
            self.written = [one or number in changed for number, one in enumerate(self.written)]

    def held(self, before: Versions) -> Versions:
        """Those of them that the module holds, or has held."""
        return [one for one in before if one[0] < len(self.module) and self.module[one[0]]]


def version_of(tensor: torch.Tensor) -> int:
    """Another one whenever it is written to, where torch counts that."""
    return -1 if tensor.is_inference() else tensor._version


def versions_of(result: Any) -> Versions:
    return [(number, tensor, version_of(tensor)) for number, tensor in enumerate(tensors(result))]


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
