"""Recurrent layers are traced in one step, with final states as they are returned, whatever torch's decomposition makes of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch._decomp.decompositions as decompositions
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from mtmc.trace.recurrent import recurrent_shapes

LSTM, RNN = "one_layer_lstm", "one_layer_rnn"


@pytest.mark.parametrize("axis", [0, 1])  # 1: as torch 2.11 has it
@pytest.mark.parametrize("batch", [1, 3])
def test_states_have_two_axes(monkeypatch: pytest.MonkeyPatch, axis: int, batch: int) -> None:
    def layer(x: torch.Tensor, state: torch.Tensor) -> Any:
        return x, (state.squeeze(axis), state.squeeze(axis))

    monkeypatch.setattr(decompositions, LSTM, layer)
    with recurrent_shapes():
        out, states = getattr(decompositions, LSTM)(torch.zeros(5, batch, 4), torch.zeros(1, batch, 4))
    assert out.shape == (5, batch, 4)
    assert [state.shape for state in states] == [(batch, 4)] * 2
    assert getattr(decompositions, LSTM) is layer


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "batch_first": True}, {"bidirectional": True, "bias": False}]
)
def test_an_exported_layer_returns_what_eager_returns(kind: type[torch.nn.RNNBase], options: dict[str, Any]) -> None:
    net, x = kind(4, 6, **options).eval(), torch.rand(3, 5, 4)
    with recurrent_shapes():
        exported = torch.export.export(net, (x,), strict=False)
    wanted = torch.utils._pytree.tree_leaves(net(x))
    found = [node.meta["val"] for node in exported.graph.nodes if node.op == "output" for node in node.args[0]]
    assert [one.shape for one in found] == [one.shape for one in wanted]
    for ours, eager in zip(torch.utils._pytree.tree_leaves(exported.module()(x)), wanted, strict=True):
        torch.testing.assert_close(ours, eager)


class Counted(TorchDispatchMode):
    calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Counted.calls += 1
        return func(*args, **(kwargs or {}))


def test_shapes_of_a_long_sequence_take_no_longer() -> None:
    def calls(steps: int) -> int:
        Counted.calls = 0
        with FakeTensorMode(), recurrent_shapes():
            x, h, w = torch.empty(steps, 2, 4), torch.empty(2, 6), [torch.empty(18, 4), torch.empty(18, 6)]
            with Counted():
                out, last = getattr(decompositions, RNN)(x, h, w, False, hidden_fn=decompositions.gru_cell)
        assert out.shape == (steps, 2, 6)
        assert last.shape == (2, 6)
        return Counted.calls

    assert calls(500) == calls(5)


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_what_is_recorded_has_every_step(mode: str) -> None:
    """Whoever takes the layer apart gets all of it, and whoever has values gets theirs."""
    net, x, h = torch.nn.GRU(4, 6), torch.rand(5, 2, 4), torch.rand(2, 6)
    weights = [weight.detach() for weight in (net.weight_ih_l0, net.weight_hh_l0, net.bias_ih_l0, net.bias_hh_l0)]

    def layer(x: torch.Tensor, h: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        return getattr(decompositions, RNN)(x, h, weights, True, hidden_fn=decompositions.gru_cell)[0]

    with recurrent_shapes():
        graph = make_fx(layer, tracing_mode=mode)(x, h, *weights)
        found = layer(x, h, *weights)
    wanted = net(x, h[None])[0].detach()
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(graph(x, h, *weights), wanted)
