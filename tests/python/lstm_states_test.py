"""An LSTM's final states are traced as they are returned, whatever torch's decomposition makes of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch._decomp.decompositions as decompositions

from mtmc.trace.lstm_states import NAME, final_states


@pytest.mark.parametrize("axis", [0, 1])  # 1: as torch 2.11 has it
@pytest.mark.parametrize("batch", [1, 3])
def test_states_have_two_axes(monkeypatch: pytest.MonkeyPatch, axis: int, batch: int) -> None:
    def layer(x: torch.Tensor, state: torch.Tensor) -> Any:
        return x, (state.squeeze(axis), state.squeeze(axis))

    monkeypatch.setattr(decompositions, NAME, layer)
    with final_states():
        out, states = getattr(decompositions, NAME)(torch.zeros(5, batch, 4), torch.zeros(1, batch, 4))
    assert out.shape == (5, batch, 4)
    assert [state.shape for state in states] == [(batch, 4)] * 2
    assert getattr(decompositions, NAME) is layer


@pytest.mark.parametrize("layers", [1, 2])
def test_an_exported_lstm_returns_what_eager_returns(layers: int) -> None:
    lstm = torch.nn.LSTM(4, 6, num_layers=layers, batch_first=True).eval()
    x = torch.zeros(3, 5, 4)
    with final_states():
        exported = torch.export.export(lstm, (x,), strict=False)
    wanted, (h, c) = lstm(x)
    found = [node.meta["val"].shape for node in exported.graph.nodes if node.op == "output" for node in node.args[0]]
    assert found == [wanted.shape, h.shape, c.shape]
