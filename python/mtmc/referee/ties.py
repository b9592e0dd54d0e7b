"""Outputs that are indices into what an operator ordered: where two values are equal, either index is right."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class View:
    """How an output lies in the memory of the tensor of indices that an operator returned (`own`, as in the truth)."""

    own: torch.Tensor
    shape: torch.Size
    stride: tuple[int, ...]
    offset: int

    def of(self, laid: torch.Tensor) -> torch.Tensor:
        return laid.as_strided(self.shape, self.stride, self.offset)

    def laid(self, like: torch.Tensor) -> torch.Tensor:
        """What has the shape of `own`, in memory as `own` is."""
        return torch.empty_strided(self.own.shape, self.own.stride(), dtype=like.dtype, device=like.device).copy_(like)

    def is_part(self) -> bool:
        """Is each of its elements one of `own`'s, at a place that no other has?"""
        reach = 0  # of the axes that move least
        for extent, stride in sorted(zip(self.shape, self.stride, strict=True), key=lambda axis: axis[1]):
            if extent > 1 and stride <= reach:
                return False
            reach += (extent - 1) * stride
        last = sum((extent - 1) * stride for extent, stride in zip(self.own.shape, self.own.stride(), strict=True))
        return 0 not in self.shape and self.offset >= 0 and self.offset + reach <= last


@dataclass(frozen=True)
class Ties:
    """For an output that holds indices: the values they point into (float64, or those of an argument), along which axis,
    whether no index may come twice along it, and whether those of equal values ascend. `view`: of outputs that are no
    longer in the operator's shape; all else here speaks of indices in that shape, which `whole` makes of them."""

    values: torch.Tensor
    dim: int
    distinct: bool = False
    stable: bool = False
    view: View | None = None

    def at(self, index: torch.Tensor) -> torch.Tensor:
        """The values that an index tensor selects; it has the shape of the operator's indices."""
        rows = index if index.dim() == self.values.dim() else index.unsqueeze(self.dim)
        found = self.values.gather(self.dim, rows.clamp(0, self.values.shape[self.dim] - 1).long())
        return found.reshape(index.shape)

    def whole(self, output: torch.Tensor) -> torch.Tensor:
        """An output in the shape of the operator's indices; where it has none of them, as in the truth."""
        return output if self.view is None else self._filled(output, self.view, self.view.own)

    def repeated(self, output: torch.Tensor) -> int:
        """How often an index comes again along the axis, of those that the output has."""
        if self.view is not None:
            none = -1 - torch.arange(self.view.own.numel(), device=output.device).view(self.view.own.shape)
            output = self._filled(output, self.view, none)
        return int((output.sort(self.dim).values.diff(dim=self.dim) == 0).sum()) if output.dim() else 0

    def part(self, whole: torch.Tensor) -> torch.Tensor:
        """Of something for each of the operator's indices what belongs to an output's."""
        return whole if self.view is None else self.view.of(self.view.laid(whole))

    @staticmethod
    def _filled(output: torch.Tensor, view: View, rest: torch.Tensor) -> torch.Tensor:
        laid = view.laid(rest.to(output.device, output.dtype))
        view.of(laid).copy_(output)
        return laid


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version  # of those in inference mode torch does not know


class Orders:
    """The ties of all tensors of indices that operators return in a call; by the memory they lie in, so that views are found."""

    def __init__(self) -> None:
        # They are held, so that no address is given to another tensor.
        self._known: dict[int, tuple[torch.Tensor, int, Ties]] = {}

    def note(self, index: torch.Tensor, ties: Ties) -> None:
        self._known[index.untyped_storage().data_ptr()] = index, _version(index), ties

    def of(self, output: torch.Tensor) -> Ties | None:
        """None of what is no part of an operator's indices, or of those that were changed since."""
        if output.dtype != torch.int64 or output.layout != torch.strided or not output.numel():
            return None
        known = self._known.get(output.untyped_storage().data_ptr())
        if known is None or _version(known[0]) != known[1]:
            return None
        own, _, ties = known
        if (output.data_ptr(), output.shape, output.stride()) == (own.data_ptr(), own.shape, own.stride()):
            return ties
        view = View(own, output.shape, output.stride(), output.storage_offset() - own.storage_offset())
        return replace(ties, view=view) if view.is_part() else None
