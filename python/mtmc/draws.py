"""The draws that a candidate is judged on: the task's own inputs under hidden seeds, and structured changes of them.

A name is KIND-INDEX; a kind and an index always give the same values within one judge's life. Structured kinds change the
float tensors and leave integers, booleans and scalars alone. KIND-INDEX~N is that draw with a few elements changed: large
arguments take too long to be drawn anew for every timed call, and no two timed calls may have the same ones. Where no
float tensor has elements to exchange, it is a draw of its own: integers may be offsets or a permutation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch

from mtmc.blobs import leaves
from mtmc.device import generator_on
from mtmc.task import Task

Change = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


def one_hot(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A single one in each row of the last axis."""
    if x.dim() == 0:
        return torch.ones_like(x)
    where = torch.randint(0, max(x.shape[-1], 1), (*x.shape[:-1], 1), generator=generator, device=x.device)
    return torch.zeros_like(x).scatter_(-1, where, 1.0)


def all_equal(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.full_like(x, 0.25 + torch.rand((), generator=generator, device=x.device).item())


def not_contiguous(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """The same values, every second element of a longer last axis."""
    if x.dim() == 0:
        return x
    wide = torch.full((*x.shape[:-1], 2 * x.shape[-1]), 3.0, dtype=x.dtype, device=x.device)[..., ::2]
    return wide.copy_(x)


def with_non_finite(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One NaN, one infinity of each sign."""
    result = x.clone()
    if x.numel() >= 4:
        places = torch.randperm(min(x.numel(), 1 << 20), generator=generator, device=x.device)[:3]
        result.view(-1)[places] = torch.tensor(
            [float("nan"), float("inf"), float("-inf")], dtype=x.dtype, device=x.device
        )
    return result


def swap_some(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A few pairs of elements change places: sums and samples of the tensor hardly notice."""
    result = x.clone()
    places = torch.randint(0, max(x.numel(), 1), (2, min(8, x.numel() // 2)), generator=generator, device=x.device)
    result.view(-1)[places[0]] = x.view(-1)[places[1]]
    result.view(-1)[places[1]] = x.view(-1)[places[0]]
    return result


def replace_one(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One element gets the value of another."""
    result = x.clone()
    places = torch.randint(0, max(x.numel(), 1), (2, min(64, x.numel())), generator=generator, device=x.device)
    differ = (x.view(-1)[places[0]] != x.view(-1)[places[1]]).nonzero()
    if len(differ):
        here, there = places[:, differ[0, 0]]
        result.view(-1)[here] = x.view(-1)[there]
    return result


# The first two are a screening's: what a search tells apart early, it need not certify in vain.
STRUCTURED: dict[str, Change] = {
    "scaled-up": lambda x, _: x * 1e3,
    "non-finite": with_non_finite,
    "negative": lambda x, _: -x.abs(),
    "one-hot": one_hot,
    "all-equal": all_equal,
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
    elif kind == "swapped":
        arguments = map_floats(arguments, lambda x: swap_some(x.contiguous(), generator))
    elif kind.startswith("shape"):
        arguments = other_shape(arguments, grows=int(kind.removeprefix("shape")))
    return arguments


def vary(arguments: list[Any], session: int, name: str) -> list[Any] | None:
    """The arguments of KIND-INDEX~N, made from those of KIND-INDEX; None where they would be the same."""
    held = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    generator = generator_on(held[0].device if held else torch.device("cpu"), seed_of(session, name))
    change = swap_some if int(name.partition("~")[2]) % 2 else replace_one
    varied = map_floats(arguments, lambda x: change(x.contiguous(), generator))
    now = [leaf for leaf in leaves(varied) if isinstance(leaf, torch.Tensor)]
    same = all(new is old or torch.equal(new, old) for new, old in zip(now, held, strict=True))
    return None if same else varied


def map_floats(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Applies a change to every floating tensor of a structure of lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return change(value) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: map_floats(part, change) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [map_floats(part, change) for part in value]
    return value


def sizes_to_vary(arguments: list[Any]) -> list[int]:
    """The distinct sizes of the tensors' axes, leading axes first: each may be a size that the module leaves open."""
    tensors = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    sizes = [
        t.shape[axis] for axis in range(max((t.dim() for t in tensors), default=0)) for t in tensors if t.dim() > axis
    ]
    return list(dict.fromkeys(size for size in sizes if size > 1))


def other_shape(arguments: list[Any], grows: int) -> list[Any]:
    """Every axis of the size number `grows` (of sizes_to_vary) is one longer; its values repeat."""
    size = sizes_to_vary(arguments)[grows]

    def grow(x: torch.Tensor) -> torch.Tensor:
        for axis in range(x.dim()):
            if x.shape[axis] == size:
                x = x.index_select(axis, torch.arange(size + 1, device=x.device) % size)
        return x

    return [grow(x) if isinstance(x, torch.Tensor) else x for x in arguments]
