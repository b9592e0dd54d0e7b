"""The draws that a candidate is judged on: the task's own inputs under hidden seeds, and structured changes of them.

A name is KIND-INDEX; a kind and an index always give the same values within one judge's life. Structured kinds change the
float tensors and leave integers, booleans and scalars alone, but for `permuted`, which changes just those. KIND-INDEX~N mixes
that draw and the next one: large arguments take too long to be drawn anew for every timed call, and no element may be met twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch

from mtmc.device.device import generator_on
from mtmc.task.task import Task
from mtmc.wire.blobs import leaves

LARGE = 1 << 16  # elements
MOST_SIZES, FEW_SHAPES_FROM = 3, 1 << 24  # that are varied; of arguments with more elements one
WAYS, MOST_DOUBLED = 3, 256  # to vary a size; larger ones grow by half
Change = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


def one_hot(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A single one in each row of the last axis."""
    if x.dim() == 0:
        return torch.ones_like(x)
    where = torch.randint(0, max(x.shape[-1], 1), (*x.shape[:-1], 1), generator=generator, device=x.device)
    return torch.zeros_like(x).scatter_(-1, where, 1.0)


def few_rows(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Of four rows of the last axis one is 0, one all equal, two are copies of one: what a sum or mean over many rows evens
    out does not even out here, and what divides by a row's norm or variance meets none."""
    rows = x.reshape(-1, x.shape[-1]) if x.dim() > 1 else x.reshape(-1, 1)
    if not rows.numel():
        return x
    which = torch.arange(len(rows), device=x.device)[:, None] % 4
    level = 0.25 + torch.rand((), generator=generator, device=x.device).item()
    one = rows[torch.randint(0, len(rows), (1,), generator=generator, device=x.device)]
    return torch.where(which == 2, 0.0, torch.where(which == 1, level, one)).to(x.dtype).reshape(x.shape)


def with_offset(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """A mean fifty times the spread: variances as a difference of two large numbers show. (With more, eager itself is a
    hundred times worse than on the task's draws, and the draw does not count.)"""
    return x + 50 * x.std(correction=0)


def not_contiguous(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """The same values, every second element of a longer last axis."""
    if x.dim() == 0:
        return x
    wide = torch.full((*x.shape[:-1], 2 * x.shape[-1]), 3.0, dtype=x.dtype, device=x.device)[..., ::2]
    return wide.copy_(x)


def with_non_finite(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One NaN and one infinity of each sign anywhere, and in a large tensor once more among its last elements."""
    result, flat = x.clone(), x.numel()
    special = torch.tensor([float("nan"), float("inf"), float("-inf")], dtype=x.dtype, device=x.device)
    if flat >= 4:
        places = torch.randint(0, flat, (3,), generator=generator, device=x.device)
        result.view(-1)[places] = special
        last = 3 if flat >= LARGE else 1
        order = torch.randperm(3, generator=generator, device=x.device)[:last]
        result.view(-1)[flat - last :] = special[order]
    return result


def swap_some(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A few pairs of elements change places: sums and samples of the tensor hardly notice."""
    result = x.clone()
    places = torch.randint(0, max(x.numel(), 1), (2, min(8, x.numel() // 2)), generator=generator, device=x.device)
    result.view(-1)[places[0]] = x.view(-1)[places[1]]
    result.view(-1)[places[1]] = x.view(-1)[places[0]]
    return result


# The first two are a screening's: what a search tells apart early, it need not certify in vain.
STRUCTURED: dict[str, Change] = {
    "scaled-up": lambda x, _: x * 1e3,
    "non-finite": with_non_finite,
    "negative": lambda x, _: -x.abs(),
    "one-hot": one_hot,
    "few-rows": few_rows,
    "offset": with_offset,
    "scaled-down": lambda x, _: x * 1e-3,
    "non-contiguous": not_contiguous,
}


def seed_of(session: int, name: str) -> int:
    """63 bits that nobody outside the judge can guess."""
    return int.from_bytes(hashlib.sha256(f"{session}/{name}".encode()).digest()[:8], "little") >> 1


def make_draw(task: Task, session: int, kind: str, index: str) -> list[Any]:
    """The arguments of draw KIND-INDEX. An index may be the N~M of a draw that is varied."""
    seed = seed_of(session, f"{'task' if kind == 'swapped' else kind}-{index}")
    arguments = task.make_inputs(seed)
    generator = generator_on(task.where, seed_of(session, f"{kind}-{index}-change"))
    if kind in STRUCTURED:
        arguments = map_floats(arguments, lambda x: STRUCTURED[kind](x.contiguous(), generator))
    elif kind == "scaled-apart":
        arguments = scaled_apart(arguments, generator)
    elif kind == "permuted":
        arguments = map_leaves(arguments, lambda value: permuted(value, generator))
    elif kind == "numbers":
        factor = 1.25 + torch.rand((), generator=generator, device=task.where).item()
        arguments = map_leaves(arguments, lambda value: value * factor if type(value) is float else value)
    elif kind == "swapped":
        arguments = map_floats(arguments, lambda x: swap_some(x.contiguous(), generator))
    elif kind.startswith("shape"):
        sizes = generator_on(torch.device("cpu"), seed_of(session, kind))  # the same for all draws of the kind
        arguments = other_shape(arguments, int(kind.removeprefix("shape")), sizes)
    return arguments


def scaled_apart(arguments: list[Any], generator: torch.Generator) -> list[Any]:
    """One of the float tensors is larger by a power of two from 2 to 64: a term that the others hide comes to light, in half
    precision, say."""
    count = sum(isinstance(leaf, torch.Tensor) and leaf.is_floating_point() for leaf in leaves(arguments))
    numbers = iter(range(count))
    which, power = (
        int(torch.randint(0, most, (), generator=generator, device=generator.device)) for most in (count, 6)
    )
    return map_floats(arguments, lambda x: x * 2.0 ** (power + 1) if next(numbers) == which else x)


def structured_kinds(arguments: list[Any]) -> list[str]:
    """In the order in which they are met; those that would change nothing are left out."""
    tensors = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    kinds = list(STRUCTURED) if any(t.is_floating_point() for t in tensors) else ["non-contiguous"]
    apart = sum(t.is_floating_point() and t.numel() > 0 for t in tensors) > 1
    return kinds + ["scaled-apart"] * apart + ["permuted"] * any(is_chosen(t) for t in tensors)


def other_kinds(arguments: list[Any]) -> list[str]:
    """Draws of other sizes, and with other Python numbers: a candidate may say clearly that it does not take them."""
    tensors = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    most = 1 if sum(t.numel() for t in tensors) > FEW_SHAPES_FROM else MOST_SIZES
    sizes = min(len(sizes_to_vary(arguments)), most)
    return [f"shape{i}" for i in range(WAYS * sizes)] + ["numbers"] * any(
        type(leaf) is float for leaf in leaves(arguments)
    )


def is_chosen(x: torch.Tensor) -> bool:
    """Masks and indices, which have an order, and tensors that are one number."""
    return x.numel() > 1 if not x.is_floating_point() and not x.is_complex() else x.dim() == 0


def permuted(value: Any, generator: torch.Generator) -> Any:
    """Integers and truth values in another order, a quarter of truth values that are all alike the other way; a tensor of one number
    times another one."""
    if not isinstance(value, torch.Tensor) or not is_chosen(value):
        return value
    if value.dim() == 0:
        return value * (1.25 + torch.rand((), generator=generator, device=value.device).to(value.dtype))
    if value.dtype == torch.bool and bool((value == value.reshape(-1)[0]).all()):  # in any order the same
        return value ^ (torch.rand(value.shape, generator=generator, device=value.device) < 0.25)
    order = torch.randperm(value.numel(), generator=generator, device=value.device)
    return value.reshape(-1)[order].reshape(value.shape)


def mixed(first: list[Any], second: list[Any], session: int, name: str) -> list[Any]:
    """Each element of one of two draws, from another place: none is where it was, and no row is one that was there before. Integers
    and scalars are the first's: they may be offsets, or a permutation."""
    held = [leaf for leaf in leaves(first) if isinstance(leaf, torch.Tensor)]
    generator = generator_on(held[0].device if held else torch.device("cpu"), seed_of(session, name))

    def shift(x: torch.Tensor) -> torch.Tensor:
        by = int(torch.randint(1, max(x.numel(), 2), (), generator=generator, device=x.device))
        return x.reshape(-1).roll(by).reshape(x.shape)

    def mix(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        if not x.is_floating_point():
            return x
        pick = torch.rand(x.shape, generator=generator, device=x.device) < 0.5
        return torch.where(pick, shift(x), shift(other))

    others = iter(leaf for leaf in leaves(second) if isinstance(leaf, torch.Tensor))
    return map_leaves(first, lambda x: mix(x, next(others)) if isinstance(x, torch.Tensor) else x)


def map_floats(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Applies a change to every floating tensor of a structure of lists, tuples and dicts."""
    return map_leaves(value, lambda x: change(x) if isinstance(x, torch.Tensor) and x.is_floating_point() else x)


def map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: map_leaves(part, change) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [map_leaves(part, change) for part in value]
    return change(value)


def sizes_to_vary(arguments: list[Any]) -> list[int]:
    """The distinct sizes of the tensors' axes, leading axes first: each may be a size that the module leaves open."""
    tensors = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    sizes = [
        t.shape[axis] for axis in range(max((t.dim() for t in tensors), default=0)) for t in tensors if t.dim() > axis
    ]
    return list(dict.fromkeys(size for size in sizes if size > 1))


def other_shape(arguments: list[Any], which: int, generator: torch.Generator) -> list[Any]:
    """Every axis of one size, of sizes_to_vary, has another: a few more, half or twice as many. Its values repeat."""
    size = sizes_to_vary(arguments)[which // WAYS]
    few, twice = 1 + int(torch.randint(0, 8, (), generator=generator)), size if size <= MOST_DOUBLED else size // 2
    other = (size + few, size + twice, size // 2)[which % WAYS]

    def resize(x: torch.Tensor) -> torch.Tensor:
        for axis in range(x.dim()):
            if x.shape[axis] == size:
                x = x.index_select(axis, torch.arange(other, device=x.device) % size)
        return x

    return [resize(x) if isinstance(x, torch.Tensor) else x for x in arguments]
