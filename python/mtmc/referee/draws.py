"""The draws that a candidate is judged on: the task's own inputs under hidden seeds, and structured changes of them.

A name is KIND-INDEX; a kind and an index always give the same values within one judge's life. Structured kinds change the
float tensors and leave integers, booleans and scalars alone, but for `permuted`, which changes just those. KIND-INDEX~N mixes
that draw and the next one: large arguments take too long to be drawn anew for every timed call, and no element may be met twice.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import torch

from mtmc.device.random_state import generator_on
from mtmc.referee import layouts
from mtmc.referee.layouts import Change, has_alike, has_turns, is_float, map_leaves, of_images, one_tensor
from mtmc.referee.sizes import (
    all_small,
    axes_to_vary,
    has_lists,
    is_large,
    longer_lists,
    other_axes,
    other_shape,
    sizes_to_vary,
    ways_to_vary,
)
from mtmc.task.task import Task
from mtmc.wire.blobs import leaves

LARGE = 1 << 16  # elements
LARGER, IGNORED = 1000, -100  # times as large; see torch.nn.functional.cross_entropy
WHOLE_TYPES = (torch.int8, torch.int16, torch.int32, torch.int64)
# Kinds that hold the same rows many times: of few columns there are few rows with one 1.
COPIED = ("few-rows", "one-hot")
MOST_COPIED, ROWS_EACH = 16, 256  # rows of which others are copies, one for so many
MOST_AXES, FEW_AXES = 8, 2  # that are varied alone or in pairs; of large arguments
LEAST_FAR, MOST_FAR = 7, 11  # powers of two by which a Python float is a far larger one


def one_hot(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A single one in each row of the last axis."""
    if x.dim() == 0:
        return torch.ones_like(x)
    where = torch.randint(0, max(x.shape[-1], 1), (*x.shape[:-1], 1), generator=generator, device=x.device)
    return torch.zeros_like(x).scatter_(-1, where, 1.0)


def few_rows(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Of four rows of the last axis one is 0 (of either sign), one all equal, two are copies of one: what a sum or mean over many rows evens
    out does not even out here, and what divides by a row's norm or variance meets none. Where there are thousands of rows,
    copies are of several: else one element of a result that happens to be next to nothing would stand in half of its rows."""
    rows = x.reshape(-1, x.shape[-1]) if x.dim() > 1 else x.reshape(-1, 1)
    if not rows.numel():
        return x
    count = max(1, min(MOST_COPIED, len(rows) // ROWS_EACH))
    level = 0.25 + torch.rand(count, generator=generator, device=x.device)
    chosen = torch.randint(0, len(rows), (count,), generator=generator, device=x.device)
    which = torch.arange(len(rows), device=x.device) // 4 % count
    result = rows[chosen[which]]
    result[1::4] = level[which[1::4], None].to(x.dtype)
    result[2::4] = torch.randn(rows[2::4].shape, generator=generator, device=x.device).mul_(0).to(x.dtype)
    return result.reshape(x.shape)


def with_offset(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """A mean fifty times the spread: variances as a difference of two large numbers show. (With more, eager itself is a
    hundred times worse than on the task's draws, and the draw does not count.)"""
    return x + 50 * x.std(correction=0)


def with_infinite_rows(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A few rows of the last axis are -inf throughout, as masked scores are: the first of them is anywhere."""
    result = x.clone()
    rows = result.view(-1, x.shape[-1]) if x.dim() > 1 and x.numel() else result.view(-1, 1)
    if len(rows) > 1:
        places = torch.randint(0, len(rows), (1 + len(rows) // 16,), generator=generator, device=x.device)
        rows[places[: len(rows) // 2]] = -math.inf
    return result


def with_other_exponents(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Each element is scaled by itself, from a 1024th to 1024 times: no element tells the range of its row."""
    return x * torch.rand(x.shape, generator=generator, device=x.device).mul_(20).sub_(10).exp2_().to(x.dtype)


def with_non_finite(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One NaN and one infinity of each sign anywhere, in a large tensor once more near its end, and every other time one of them
    in the last element."""
    result, size = x.clone(), x.numel()
    special = torch.tensor([float("nan"), float("inf"), float("-inf")], dtype=x.dtype, device=x.device)
    if size < 4:
        return result

    def mark(low: int, count: int) -> None:
        places = torch.randint(low, size, (count,), generator=generator, device=x.device)
        order = torch.randperm(3, generator=generator, device=x.device)[:count]
        result.view(-1)[places] = special[order]

    if bool(torch.randint(0, 2, (), generator=generator, device=x.device)):
        mark(size - 1, 1)
    mark(0, 3)
    if size >= LARGE:
        mark(size - size // 16, 3)
    return result


def spread_rows(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Each row of the last axis is scaled by itself, from a 32nd to 32 times: no row tells the range of the others."""
    shape = (*x.shape[:-1], 1) if x.dim() > 1 else x.shape
    return x * torch.exp2(10 * torch.rand(shape, generator=generator, device=x.device) - 5).to(x.dtype)


def with_outliers(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Three elements anywhere are far larger than all others, from 32 to 512 times the largest: neither their rows nor any sample of
    the tensor tell of them."""
    if x.numel() < 4:
        return x
    result = x.clone()
    places = torch.randint(0, x.numel(), (3,), generator=generator, device=x.device)
    times = torch.exp2(5 + 4 * torch.rand(3, generator=generator, device=x.device)).to(x.dtype)
    signs = 2 * torch.randint(0, 2, (3,), generator=generator, device=x.device).to(x.dtype) - 1
    result.view(-1)[places] = x.abs().amax() * times * signs
    return result


def swap_some(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A few pairs of elements change places: sums and samples of the tensor hardly notice."""
    result = x.clone()
    places = torch.randint(0, max(x.numel(), 1), (2, min(8, x.numel() // 2)), generator=generator, device=x.device)
    result.view(-1)[places[0]] = x.view(-1)[places[1]]
    result.view(-1)[places[1]] = x.view(-1)[places[0]]
    return result


def swap_samples(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The parts of the first axis change places, in a circle: what each must be, a matrix with an inverse maybe, it still is."""
    if x.dim() == 0 or len(x) < 2:
        return x
    return x.roll(1 + int(torch.randint(0, len(x) - 1, (), generator=generator, device=x.device)), 0)


# The first two are a screening's: what a search tells apart early, it need not certify in vain.
STRUCTURED: dict[str, Change] = {
    "scaled-up": lambda x, _: x * 1e3,
    "non-finite": with_non_finite,
    "negative": lambda x, _: -x.abs(),
    "one-hot": one_hot,
    "few-rows": few_rows,
    "offset": with_offset,
    "scaled-down": lambda x, _: x * 1e-3,
    "spread": spread_rows,
    "uneven": with_other_exponents,
    "outliers": with_outliers,
}


def larger(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """A thousand times as large, as far as the type goes: sums in a narrower one show."""
    most = max(abs(int(x.max())), abs(int(x.min())), 1) if x.numel() else 1
    return x * max(1, min(LARGER, torch.iinfo(x.dtype).max // most))


def ignored(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A quarter of them are torch's number for labels that do not count."""
    some = torch.rand(x.shape, generator=generator, device=x.device) < 0.25
    return x if x.dtype == torch.uint8 else x.masked_fill(some, IGNORED)


# Of tensors of integers. Many modules take no such numbers, as indices: then these say nothing.
WHOLE: dict[str, Change] = {
    "larger-integers": larger,
    "negative-integers": lambda x, _: -x,
    "ignored-integers": ignored,
}
LAYOUTS, SIZES = tuple(layouts.OTHER_ORDERS), ("axis", "shape", "small", "longer")  # kinds, and how they begin


def of_own_layout(kind: str) -> bool:
    """Must results lie in memory as eager's do? On other layouts, and on other sizes, what an einsum returns lies as it likes."""
    return kind not in LAYOUTS and not kind.startswith(SIZES)


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
    elif kind in layouts.OF_ALL:
        arguments = map_tensors(arguments, lambda x: layouts.OF_ALL[kind](x.contiguous(), generator))
    elif kind == "one-tensor":
        arguments = one_tensor(arguments)
    elif kind == "alike-rows":
        arguments = map_leaves(arguments, lambda value: with_alike_rows(value, generator))
    elif kind == "scaled-apart":
        arguments = one_changed(arguments, lambda x: times_power(x, generator), generator)
    elif kind == "infinite-rows":
        arguments = one_changed(arguments, lambda x: with_infinite_rows(x.contiguous(), generator), generator)
    elif kind == "permuted":
        arguments = map_leaves(arguments, lambda value: permuted(value, generator))
    elif kind == "regrouped":
        arguments = map_leaves(arguments, lambda value: regrouped(value, generator))
    elif kind == "flipped":
        arguments = map_leaves(arguments, lambda value: flipped(value, generator))
    elif kind == "negated":
        arguments = map_leaves(arguments, lambda value: -value if type(value) is float else value)
    elif kind == "integers":
        arguments = map_leaves(arguments, other_integer)
    elif kind == "lesser-integers":
        arguments = map_leaves(arguments, lambda value: lesser(value, generator))
    elif kind == "longer":
        arguments = longer_lists(arguments)
    elif kind in WHOLE:
        arguments = map_leaves(arguments, lambda value: WHOLE[kind](value, generator) if is_whole(value) else value)
    elif kind.startswith("axis"):
        order = generator_on(torch.device("cpu"), seed_of(session, "axes"))
        sizes = generator_on(torch.device("cpu"), seed_of(session, kind))
        arguments = other_axes(arguments, int(kind.removeprefix("axis")), order, sizes)
    elif kind in ("numbers", "far-numbers"):
        factor = torch.rand((), generator=generator, device=task.where).item()
        factor = 1.25 + factor if kind == "numbers" else 2 ** (LEAST_FAR + factor * (MOST_FAR - LEAST_FAR))
        arguments = map_leaves(arguments, lambda value: value * factor if type(value) is float else value)
    elif kind == "swapped":
        swap = swap_some if index == "0" else swap_samples
        arguments = map_floats(arguments, lambda x: swap(x.contiguous(), generator))
    elif kind == "small":
        arguments = all_small(arguments, generator_on(torch.device("cpu"), seed_of(session, kind)))
    elif kind.startswith("shape"):
        sizes = generator_on(torch.device("cpu"), seed_of(session, kind))  # the same for all draws of the kind
        arguments = other_shape(arguments, int(kind.removeprefix("shape")), sizes)
    return arguments


def times_power(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Larger by a power of two from 2 to 64."""
    return x * 2.0 ** (1 + int(torch.randint(0, 6, (), generator=generator, device=x.device)))


def one_changed(
    arguments: list[Any], change: Callable[[torch.Tensor], torch.Tensor], generator: torch.Generator
) -> list[Any]:
    """One of the float tensors is changed. Where it is larger than the others, a term that they hide comes to light, in half
    precision, say. Where it alone has rows of -inf, those of others do not hide what became of them."""
    count = sum(is_float(leaf) for leaf in leaves(arguments))
    numbers = iter(range(count))
    which = int(torch.randint(0, count, (), generator=generator, device=generator.device))
    return map_leaves(arguments, lambda x: change(x) if is_float(x) and next(numbers) == which else x)


def structured_kinds(arguments: list[Any]) -> list[str]:
    """In the order in which they are met; those that would change nothing are left out."""
    tensors = [leaf for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor)]
    kinds = list(STRUCTURED) if any(t.is_floating_point() or t.is_complex() for t in tensors) else []
    apart = sum(t.is_floating_point() and t.numel() > 0 for t in tensors) > 1
    chosen = [t for t in tensors if is_chosen(t)]
    flips = any(t.numel() > 1 for t in chosen)
    kinds += ["scaled-apart"] * apart + ["permuted"] * bool(chosen) + ["flipped"] * flips
    kinds += ["regrouped"] * any(map(is_in_order, tensors))
    kinds += ["infinite-rows"] * any(map(is_float, tensors)) + ["alike-rows"] * any(map(has_rows_of_truth, tensors))
    if (
        any(t.is_complex() for t in tensors) and kinds
    ):  # what is infinite in one part is, or is not, a number in a product
        kinds.remove("non-finite")
    if not is_large(arguments):  # it would take twice the memory; `gapped` has another layout, too
        kinds += ["non-contiguous"]
    kinds += ["transposed", "gapped"] * any(t.dim() > 1 for t in tensors)
    if not is_large(arguments):
        kinds += ["channels-last"] * any(map(of_images, tensors)) + ["reordered"] * any(map(has_turns, tensors))
        kinds += ["one-tensor"] * has_alike(arguments)
    return [*kinds, "unaligned"]


def other_kinds(arguments: list[Any], integers_decide: bool = False) -> list[str]:
    """Draws of other sizes, and with other Python numbers and integers: a candidate may say clearly that it does not take them. On
    a GPU an index that points nowhere ends eager's process: integers stay as they are. So they do where they decide what is
    looked up, or how much there is to do."""
    sizes = sizes_to_vary(arguments)
    kinds = [f"shape{i}" for i in range(len(sizes) * ways_to_vary(arguments))] + ["small"] * (len(sizes) > 1)
    types = {type(leaf) for leaf in leaves(arguments)}
    return [
        *kinds,
        *(f"axis{i}" for i in range(min(FEW_AXES if is_large(arguments) else MOST_AXES, len(axes_to_vary(arguments))))),
        *(["longer"] if has_lists(arguments) else []),
        *(["numbers", "negated", "far-numbers"] if float in types else []),
        *(["integers"] if types & {int, bool} else []),
        *(["lesser-integers"] if int in types else []),
        *(
            WHOLE
            if any(is_whole(leaf) and not leaf.is_cuda for leaf in leaves(arguments)) and not integers_decide
            else []
        ),
    ]


def is_whole(value: Any) -> bool:
    """A tensor of integers, not only of 0 and 1, which may stand for truth values."""
    return isinstance(value, torch.Tensor) and value.dtype in (*WHOLE_TYPES, torch.uint8) and bool((value & ~1).any())


def is_chosen(x: torch.Tensor) -> bool:
    """Masks and indices, and tensors that are one number."""
    return x.numel() > 0 if not x.is_floating_point() and not x.is_complex() else x.dim() == 0


def permuted(value: Any, generator: torch.Generator) -> Any:
    """Integers and truth values in another order; where all are alike, a quarter of truth values is the other way, and of integers
    above 0 less; one that is alone is another one, nearer to 0, and a tensor of one number times another one."""
    if not isinstance(value, torch.Tensor) or not is_chosen(value):
        return value
    if value.numel() == 1 and not value.is_floating_point():
        return ~value if value.dtype == torch.bool else torch.full_like(value, nearer(int(value), generator))
    if value.dim() == 0:
        sign = 2 * int(torch.randint(0, 2, (), generator=generator, device=value.device)) - 1
        return value * sign * (1.25 + torch.rand((), generator=generator, device=value.device).to(value.dtype))
    if bool((value == value.reshape(-1)[0]).all()):  # in any order the same
        some = torch.rand(value.shape, generator=generator, device=value.device) < 0.25
        if value.dtype == torch.bool:
            return value ^ some
        less = (value * torch.rand(value.shape, generator=generator, device=value.device)).to(value.dtype)
        return torch.where(some & (value > 0), less, value)
    order = torch.randperm(value.numel(), generator=generator, device=value.device)
    return value.reshape(-1)[order].reshape(value.shape)


def is_in_order(value: Any) -> bool:
    """Integers that never become less along the last axis, and end higher than they began: where parts begin, maybe, or whose part
    each row is."""
    if not isinstance(value, torch.Tensor) or value.dtype not in WHOLE_TYPES or value.dim() == 0 or value.numel() < 3:
        return False
    return bool((value.diff(dim=-1) >= 0).all()) and bool((value[..., -1] > value[..., 0]).any())


def regrouped(value: Any, generator: torch.Generator) -> Any:
    """Integers in order are others in order, from the same first to the same last: parts of other lengths, some of them empty."""
    if not is_in_order(value):
        return value
    first, last = value[..., :1], value[..., -1:]
    where = torch.rand(value.shape, generator=generator, device=value.device, dtype=torch.float64)
    other = first + (where * (last - first + 1)).to(value.dtype)
    other[..., :1], other[..., -1:] = first, last
    return other.sort(dim=-1).values


def with_alike_rows(value: Any, generator: torch.Generator) -> Any:
    """Of truth values one row in four, and one at least, is false throughout, and as many are true: nothing is left of what a mask
    so long keeps, or everything."""
    if not has_rows_of_truth(value):
        return value
    result = value.clone().contiguous()
    rows = result.view(-1, result.shape[-1])
    order = torch.randperm(len(rows), generator=generator, device=value.device)
    count = -(-len(rows) // 4)
    rows[order[count : 2 * count]] = True
    rows[order[:count]] = False
    return result


def has_rows_of_truth(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool and value.dim() > 0 and value.numel() > 1


def flipped(value: Any, generator: torch.Generator) -> Any:
    """A few truth values the other way, a few integers in another's place."""
    if not isinstance(value, torch.Tensor) or not is_chosen(value) or value.numel() < 2:
        return value
    count = max(1, min(4, value.numel() // 8))
    here, there = torch.randint(0, value.numel(), (2, count), generator=generator, device=value.device)
    result, flat = value.clone().contiguous(), value.reshape(-1)
    result.view(-1)[here] = ~flat[here] if value.dtype == torch.bool else flat[there]
    return result


def other_integer(value: Any) -> Any:
    return not value if type(value) is bool else value + 1 if type(value) is int else value


def nearer(value: int, generator: torch.Generator) -> int:
    """A whole number between 0 and one above that; what is not above is larger by one."""
    return lesser(value, generator) if value > 0 else value + 1


def lesser(value: Any, generator: torch.Generator) -> Any:
    """A whole number between 0 and this one, or below what is not above 0."""
    if type(value) is not int:
        return value
    return int(torch.randint(0, value, (), generator=generator, device=generator.device)) if value > 0 else value - 1


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
    """Applies a change to every floating tensor of a structure of lists, tuples and dicts; complex numbers are rows of two."""

    def changed(x: Any) -> Any:
        if isinstance(x, torch.Tensor) and x.is_complex():
            return torch.view_as_complex(change(torch.view_as_real(x.resolve_conj().contiguous())).contiguous())
        return change(x) if is_float(x) else x

    return map_leaves(value, changed)


def map_tensors(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    return map_leaves(value, lambda x: change(x) if isinstance(x, torch.Tensor) else x)
