"""The random generators of the devices that are used."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


def generator_on(where: torch.device, seed: int) -> torch.Generator:
    return torch.Generator(device=where).manual_seed(seed)


def seed_all(seed: int) -> None:
    """torch.manual_seed for the devices that are used: for each of the others it takes down a stack, a millisecond in all."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


def seed_others(seed: int) -> None:
    """Python's random numbers and, where it is loaded, numpy's."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Whatever random numbers are drawn within, those behind it are the same."""
    on_gpu = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
    on_host = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(on_host)
        if on_gpu is not None:
            torch.cuda.set_rng_state(on_gpu)


def random_state() -> torch.Tensor:
    """The states of all generators that this process uses."""
    states = [torch.get_rng_state()]
    if torch.cuda.is_initialized():
        states.append(torch.cuda.get_rng_state())
    return torch.cat(states)


def other_random_states() -> dict[str, Any]:
    """Those that are not torch's, by whose they are: numpy's where numpy is there."""
    found: dict[str, Any] = {"Python": random.getstate()}
    if "numpy.random" in sys.modules:
        name, words, *rest = sys.modules["numpy.random"].get_state()
        found["numpy"] = (name, words.tobytes(), rest)
    return found
