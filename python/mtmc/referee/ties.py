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
        if self.view is None:
            return output
        laid = self.view.laid(self.view.own.to(output.device, output.dtype))
        self.view.of(laid).copy_(output)
        return laid

    def part(self, whole: torch.Tensor) -> torch.Tensor:
        """Of something for each of the operator's indices what belongs to an output's."""
        return whole if self.view is None else self.view.of(self.view.laid(whole))


class Orders:
    """The ties of all tensors of indices that operators return in a call; by the memory they lie in, so that views are found."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[torch.Tensor, Ties]] = {}  # holds them: no address is given to another tensor

    def note(self, index: torch.Tensor, ties: Ties) -> None:
        self._known[index.untyped_storage().data_ptr()] = index, ties

    def of(self, output: torch.Tensor) -> Ties | None:
        """None of what is no view of an operator's indices, or one that has an element in several places."""
        if output.dtype != torch.int64 or output.layout != torch.strided:
            return None
        own, ties = self._known.get(output.untyped_storage().data_ptr(), (None, None))
        if own is None or ties is None:
            return None
        if (output.data_ptr(), output.shape, output.stride()) == (own.data_ptr(), own.shape, own.stride()):
            return ties
        offset = output.storage_offset() - own.storage_offset()
        view = View(own, output.shape, output.stride(), offset)
        places = torch.arange(view.laid(own).untyped_storage().nbytes() // own.element_size())
        if offset < 0 or not _within(view, len(places)) or len(view.of(places).unique()) < output.numel():
            return None
        all_of_it = output.numel() == own.numel()
        return replace(ties, view=view, distinct=ties.distinct and all_of_it, stable=ties.stable and all_of_it)


def _within(view: View, places: int) -> bool:
    last = view.offset + sum((extent - 1) * stride for extent, stride in zip(view.shape, view.stride, strict=True))
    return 0 in view.shape or last < places
