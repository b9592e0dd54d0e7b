"""Recurrent layers while they are traced: what torch calls to learn the shapes of their results.

torch runs them step by step for that, 18,000 operators for six layers of 512 steps, though all steps have one shape: here
the first one stands for all, wherever only shapes are asked for. And torch 2.11 gives an LSTM's final states one axis too many
(it squeezes the axis of the batch instead of that of the direction); the call itself returns them right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._decomp.decompositions as decompositions
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode

# Of one layer in one direction: (input [steps, batch, features], hidden, ...) to ([steps, batch, hidden], final hidden).
LAYERS = ("one_layer_lstm", "one_layer_rnn")


def by_first_step(own: Callable[..., Any]) -> Callable[..., Any]:
    """The layer, computed for one step where nobody records what is computed, or has values for it."""

    def layer(inputs: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        shapes_only = isinstance(inputs, FakeTensor) and get_proxy_mode() is None and inputs.shape[0] > 1
        out, states = own(inputs[:1] if shapes_only else inputs, *args, **kwargs)
        if shapes_only:
            out = out.new_empty((inputs.shape[0], *out.shape[1:]))
        if isinstance(states, tuple):
            states = tuple(state.squeeze(0) if state.dim() == 3 else state for state in states)
        return out, states

    return layer


@contextmanager
def recurrent_shapes() -> Iterator[None]:
    """Within it a layer's final states have the shape [batch, hidden], and long sequences take no longer than short ones."""
    owns = {name: getattr(decompositions, name) for name in LAYERS if hasattr(decompositions, name)}
    for name, own in owns.items():
        setattr(decompositions, name, by_first_step(own))
    try:
        yield
    finally:
        for name, own in owns.items():
            setattr(decompositions, name, own)
