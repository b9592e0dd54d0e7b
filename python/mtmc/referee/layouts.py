"""Where the values of arguments lie in memory: what a module's types leave open, and a user may pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from mtmc.wire.blobs import leaves

Change = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
ELSEWHERE = (
    "unaligned-",
    "one-tensor-",
)  # how draws begin of which a process is told where in memory their tensors lie
LEAST_ON_GPU = 16  # bytes behind which eager takes dense tensors
MOST_BETWEEN = 8  # elements between two rows


def is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: map_leaves(part, change) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [map_leaves(part, change) for part in value]
    return change(value)


def not_contiguous(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """The same values, every second element of a longer last axis."""
    if x.dim() == 0:
        return x
    wide = torch.full((*x.shape[:-1], 2 * x.shape[-1]), 3.0, dtype=x.dtype, device=x.device)[..., ::2]
    return wide.copy_(x)


def transposed(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """The same values, the last two axes the other way round in memory."""
    return x.transpose(-1, -2).contiguous().transpose(-1, -2) if x.dim() > 1 else x


def gapped(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """The same values, longer rows of which the first elements count."""
    if x.dim() < 2:
        return x
    longer = x.shape[-1] + min(MOST_BETWEEN, x.shape[-1])
    return torch.full((*x.shape[:-1], longer), 3.0, dtype=x.dtype, device=x.device)[..., : x.shape[-1]].copy_(x)


def with_channels_last(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """The same values as torch's memory format for images has them: the second axis is the last one in memory."""
    return x.movedim(1, -1).contiguous().movedim(-1, 1) if of_images(x) else x


def of_images(x: torch.Tensor) -> bool:
    return x.dim() in (4, 5) and x.shape[1] > 1


def in_other_turn(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The same values, the leading axes in another turn in memory, the last one as it was."""
    if x.dim() < 3:
        return x
    order = torch.randperm(x.dim() - 1, generator=generator, device=x.device).tolist()
    if order == sorted(order):
        order = order[1:] + order[:1]
    back = [order.index(axis) for axis in range(x.dim() - 1)]
    last = x.dim() - 1
    return x.permute(*order, last).contiguous().permute(*back, last)


def beside_its_line(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """The same values in dense memory that begins behind a multiple of 64 bytes, as slices do: one element, on a GPU 16 bytes, since
    eager itself fails behind less (attention in fp32 does)."""
    away = 1 if x.device.type == "cpu" else LEAST_ON_GPU // x.element_size()
    return torch.empty(x.numel() + away, dtype=x.dtype, device=x.device)[away:].view(x.shape).copy_(x)


def one_tensor(arguments: list[Any]) -> list[Any]:
    """Float tensors of one shape and type are one and the same, the first of them: who writes to one writes to the others."""
    first: dict[tuple[Any, ...], torch.Tensor] = {}
    return map_leaves(arguments, lambda x: first.setdefault((x.shape, x.dtype), x) if is_float(x) else x)


def has_alike(arguments: list[Any]) -> bool:
    floats = [leaf for leaf in leaves(arguments) if is_float(leaf)]
    return len({(t.shape, t.dtype) for t in floats}) < len(floats)


def has_turns(x: torch.Tensor) -> bool:
    """Do its leading axes have another turn?"""
    return sum(size > 1 for size in x.shape[:-1]) > 1


# Of all tensors; the values are the task's own. Those before `unaligned` lie in another order, or not side by side.
OTHER_ORDERS: dict[str, Change] = {
    "non-contiguous": not_contiguous,
    "transposed": transposed,
    "gapped": gapped,
    "channels-last": with_channels_last,
    "reordered": in_other_turn,
}
OF_ALL: dict[str, Change] = {**OTHER_ORDERS, "unaligned": beside_its_line}
