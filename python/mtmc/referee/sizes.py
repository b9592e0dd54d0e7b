"""Arguments of other sizes: each axis and each list may be as long as the module leaves it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import torch

from mtmc.referee.layouts import map_leaves
from mtmc.wire.blobs import leaves

MOST_SIZES, FEW_SHAPES_FROM = 9, 1 << 24  # that are varied; of arguments with more elements one
MOST_GROWN = 1 << 30  # bytes of arguments of other sizes
WAYS, FEW_SIZES, MOST_DOUBLED = 3, 3, 256  # ways to vary a size, each of a few; larger ones grow by half
FEW = 7  # a size that is


def is_large(arguments: list[Any]) -> bool:
    return sum(leaf.numel() for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)) > FEW_SHAPES_FROM


def sizes_to_vary(arguments: list[Any]) -> list[int]:
    """The distinct sizes of the tensors' axes, leading axes first: each may be a size that the module leaves open."""
    tensors = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    sizes = [
        t.shape[axis] for axis in range(max((t.dim() for t in tensors), default=0)) for t in tensors if t.dim() > axis
    ]
    found = list(dict.fromkeys(size for size in sizes if size > 1))
    return found[: 1 if is_large(arguments) else MOST_SIZES]


def ways_to_vary(arguments: list[Any]) -> int:
    """In how many ways each size is varied: all of them where sizes are few."""
    return min(WAYS, max(1, WAYS * FEW_SIZES // max(1, len(sizes_to_vary(arguments)))))


def axes_to_vary(arguments: list[Any]) -> list[tuple[tuple[int, int], ...]]:
    """Leaf and axis of one, or of one in each of two tensors, whose size yet another axis has: who takes them for the same may be
    wrong. Eager may refuse some of these."""
    held = [(i, leaf) for i, leaf in enumerate(leaves(arguments)) if isinstance(leaf, torch.Tensor)]
    by_size: dict[int, list[tuple[int, int]]] = {}
    for i, leaf in held:
        for axis, size in enumerate(leaf.shape):
            if size > 1:
                by_size.setdefault(size, []).append((i, axis))
    found: list[tuple[tuple[int, int], ...]] = []
    for axes in by_size.values():
        found += [(axis,) for axis in axes if len(axes) > 1]
        found += [pair for pair in combinations(axes, 2) if len(axes) > 2 and pair[0][0] != pair[1][0]]
    return found


def other_axes(arguments: list[Any], which: int, order: torch.Generator, sizes: torch.Generator) -> list[Any]:
    """The `which`th of axes_to_vary, in a hidden order, are longer or shorter, whatever other axes have their size."""
    choices = axes_to_vary(arguments)
    chosen = choices[int(torch.randperm(len(choices), generator=order)[which])]
    numbers, step = iter(range(len(leaves(arguments)))), int(torch.randint(1, 8, (), generator=sizes))

    def change(x: Any) -> Any:
        number = next(numbers)
        for axis in (axis for leaf, axis in chosen if leaf == number):
            size = x.shape[axis]
            other = size + step if step % 2 else max(1, size - step)
            x = x.index_select(axis, torch.arange(other, device=x.device) % size)
        return x

    return map_leaves(arguments, change)


def other_shape(arguments: list[Any], which: int, generator: torch.Generator) -> list[Any]:
    """Every axis of one size, of sizes_to_vary, has another: a few more, up to four times as many, half of it or a few. Its values
    repeat. Arguments of gigabytes only become smaller: what is computed from them may grow with the square."""
    ways = ways_to_vary(arguments)
    size = sizes_to_vary(arguments)[which // ways]

    def below(most: int) -> int:
        return int(torch.randint(0, most, (), generator=generator))

    few, times = 1 + below(8), 1 + below(3)
    grown = size * (times if size <= MOST_DOUBLED else 1) + size // 2
    less = size // 2 if below(2) else 1 + below(min(size - 1, FEW))
    way = which % ways if ways == WAYS else below(WAYS)
    if grown_bytes(arguments, size, grown) <= MOST_GROWN:
        others = size + few, grown, less
    else:
        others = max(1, size - few), less, 1 + below(size - 1)
    return with_sizes(arguments, {size: others[way]})


def grown_bytes(arguments: list[Any], size: int, other: int) -> int:
    """Of all tensors, where each axis of `size` is as long as `other`."""
    tensors = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    return sum(t.nbytes * other ** list(t.shape).count(size) // size ** list(t.shape).count(size) for t in tensors)


def all_small(arguments: list[Any], generator: torch.Generator) -> list[Any]:
    """Each size that is varied is a few, all at once; not one, which has draws of its own."""

    def few(size: int) -> int:
        return 1 if size == 2 else 2 + int(torch.randint(0, min(size - 2, FEW - 1), (), generator=generator))

    return with_sizes(arguments, {size: few(size) for size in sizes_to_vary(arguments)})


def with_sizes(arguments: list[Any], others: dict[int, int]) -> list[Any]:
    """Every axis of one of these sizes has another; where that is longer, values repeat."""

    def resize(x: torch.Tensor) -> torch.Tensor:
        for axis, size in enumerate(x.shape):
            if size in others:
                x = x.index_select(axis, torch.arange(others[size], device=x.device) % size)
        return x

    return map_leaves(arguments, lambda x: resize(x) if isinstance(x, torch.Tensor) else x)


def longer_lists(arguments: list[Any]) -> list[Any]:
    """Each argument that is a list of tensors of one form has one more."""
    return [[*one, one[0].flip(-1)] if _is_list(one) else one for one in arguments]


def has_lists(arguments: list[Any]) -> bool:
    return any(map(_is_list, arguments))


def _is_list(value: Any) -> bool:
    """Of two at least: one might be all that there can be."""
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        return False
    forms = [(one.shape, one.dtype) if isinstance(one, torch.Tensor) and one.dim() else None for one in value]
    return None not in forms and len(set(forms)) == 1
