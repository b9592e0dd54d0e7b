"""Other values for a module's parameters and buffers: a candidate must follow them."""

from __future__ import annotations

from collections.abc import Collection

import torch

from mtmc.device.random_state import generator_on
from mtmc.wire.plain import State

TINY = 2.0**-10  # mean size of a parameter: what it scales can be left out unseen
LIFTED = 0.125
NUDGED = 3  # entries of which a few elements are other ones
EXCHANGED = 16  # elements that change places
MOST_REORDERED = 1 << 22  # elements; larger entries are rolled


def second_weights(state: State, seed: int, scalars: Collection[str], signed: Collection[str] = ()) -> State:
    """Other values for every float entry, of the same size: nothing that is 0 or 1 stays so, but `scalars`, which forward reads as
    Python numbers. What has no negative element gets none, but a third of the elements of `signed` entries."""
    generators = {value.device: generator_on(value.device, seed) for value in state.values()}

    def moved(name: str, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point() or name in scalars:
            return value.clone()
        scale = float(value.float().abs().mean()) or 1.0
        noise = torch.randn(value.shape, generator=generators[value.device], device=value.device) * 0.3 * scale
        other = value.float() + noise
        if bool((value >= 0).all()):
            other = other.abs()
            if name in signed:
                order = torch.randperm(value.numel(), generator=generators[value.device], device=value.device)
                other = other.contiguous()
                other.view(-1)[order[: -(-value.numel() // 3)]] *= -1
        return other.to(value.dtype)

    return {name: moved(name, value) for name, value in state.items()}


def nudged_weights(state: State, seed: int, scalars: Collection[str], most: int = NUDGED) -> list[State]:
    """In each of at most `most`, two elements of another float entry are other ones, of the largest entry first, and in the last two of
    each that is left: who keeps what it made of the weights, and looks at some elements or some entries, misses one of them."""
    floats = [n for n, v in state.items() if v.is_floating_point() and v.numel() and n not in scalars]
    generator = torch.Generator().manual_seed(seed)

    def below(count: int) -> int:
        return int(torch.randint(0, count, (), generator=generator))

    def nudged(name: str) -> torch.Tensor:
        value = state[name].clone(memory_format=torch.contiguous_format)
        flat = value.view(-1)
        step = 4 * float(state[name].double().abs().mean()) or 1.0
        for _ in range(2):
            place = below(flat.numel())
            flat[place] = flat[place].double().abs() + step  # what must not be negative is not
        return value

    order = [floats[int(i)] for i in torch.randperm(len(floats), generator=generator)]
    order.sort(key=lambda name: state[name].numel() < max(state[other].numel() for other in floats))
    alone = max(0, most - 1)
    changed = [[name] for name in order[:alone]] + [order[alone:]] * (most > 0 and len(order) > alone)
    return [{**state, **{name: nudged(name) for name in names}} for names in changed]


def turned_weights(state: State, seed: int, scalars: Collection[str]) -> list[State]:
    """A few elements of every float entry change places, so that no sum tells of it. Then all integers, truth values and complex
    numbers of the state come in another order, where it has tensors of them: codes of weights, masks, tables of places. What is in
    range stays so, and a permutation is one; one that is alone becomes a smaller number. Second weights leave them as they are."""
    generator = torch.Generator().manual_seed(seed)

    def exchanged(flat: torch.Tensor) -> torch.Tensor:
        places = torch.randint(0, len(flat), (EXCHANGED,), generator=generator).unique()
        places = places[torch.randperm(len(places), generator=generator)].to(flat.device)
        flat = flat.clone()
        flat[places] = flat[places.roll(1)]
        return flat

    def reordered(flat: torch.Tensor) -> torch.Tensor:
        if len(flat) == 1 and not flat.is_complex():
            less = int(torch.randint(0, max(1, int(flat)), (), generator=generator))
            return ~flat if flat.dtype == torch.bool else flat.clamp(max=less)
        if len(flat) > MOST_REORDERED:
            return flat.roll(int(torch.randint(1, len(flat), (), generator=generator)))
        return flat[torch.randperm(len(flat), generator=generator).to(flat.device)]

    found = []
    for floats in (True, False):
        least = 2 if floats else 1
        chosen = [
            n for n, v in state.items() if v.is_floating_point() == floats and n not in scalars and v.numel() >= least
        ]
        change = exchanged if floats else reordered
        turned = {name: change(state[name].reshape(-1)).reshape(state[name].shape) for name in chosen}
        if not all(value.equal(state[name]) for name, value in turned.items()):
            found.append({**state, **turned})
    return found


def lifted_weights(state: State, scalars: Collection[str]) -> State | None:
    """Every tiny float entry, the scale of a branch maybe, as large as others are, but `scalars`; None where none is tiny."""

    def size_of(value: torch.Tensor) -> float:
        return float(value.double().abs().mean()) if value.is_floating_point() and value.numel() else 0.0

    tiny = {name: size for name, value in state.items() if name not in scalars and 0 < (size := size_of(value)) < TINY}
    if not tiny:
        return None
    factors = {name: LIFTED / tiny.get(name, LIFTED) for name in state}
    return {n: (v.double() * factors[n]).to(v.dtype) if n in tiny else v.clone() for n, v in state.items()}
