"""A second order of summation: the same values to rounding, and the roundings of a loop."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from mtmc.referee import summation
from mtmc.referee.summation import TERMS, OneByOne, in_turn

F = torch.nn.functional
CALLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda x: x.sum(),
    "sum over axes": lambda x: x.sum((0, 2), keepdim=True),
    "sum in another type": lambda x: x.half().sum(1, dtype=torch.float32),
    "mean": lambda x: x.mean(-1),
    "variance": lambda x: x.var(1),
    "variance of all": lambda x: x.var(unbiased=False),
    "softmax": lambda x: x.softmax(1),
    "log-softmax": lambda x: x.log_softmax(-1),
    "logsumexp": lambda x: x.logsumexp(0),
    "layer norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "group norm": lambda x: F.group_norm(x, 2),
    "rms norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "batch norm": lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4), training=True),
    "squared error": lambda x: F.mse_loss(x, x.flip(0)),
    "cross entropy": lambda x: F.cross_entropy(x[..., 0], torch.tensor([0, 1, 2])),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_sums_in_turn_are_the_same_sums(call: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.randn(3, 4, 5)
    with OneByOne() as mode:
        found = call(x)
    assert mode.sums > 0
    assert torch.allclose(found, call(x), rtol=1e-4, atol=1e-6) and found.dtype == call(x).dtype


def test_running_statistics_are_updated() -> None:
    norms = [torch.nn.BatchNorm1d(4).train() for _ in range(2)]
    x = torch.randn(16, 4)
    norms[0](x)
    with OneByOne():
        norms[1](x)
    for name, value in norms[0].state_dict().items():
        assert torch.allclose(norms[1].state_dict()[name].double(), value.double(), rtol=1e-5)


def test_long_sums_and_empty_ones() -> None:
    x = torch.randn(3 * TERMS + 7, 2)
    assert torch.allclose(in_turn(x, [0], False), x.sum(0), atol=1e-2)
    assert in_turn(torch.zeros(0, 3), [0], False).tolist() == [0, 0, 0]
    assert in_turn(torch.tensor(2.0), [], False).item() == 2


@pytest.mark.parametrize("shape", [(1000, 7), (1000, 1), (1000,), (3, 1, 2), (2, 0)])
def test_a_scan_in_pieces_is_the_sum(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summation, "SCANNED", 96)
    terms = torch.randn(shape)
    found = summation._scanned(terms)
    assert found.shape == terms.shape[1:] and torch.allclose(found, terms.sum(0), atol=1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("shape", [(4096, 300), (4096, 1), (777,)])
def test_a_scan_on_a_gpu_adds_in_turn(shape: tuple[int, ...]) -> None:
    terms = torch.randn(shape)
    total = torch.zeros(shape[1:])
    for term in terms:
        total += term
    assert torch.equal(summation._scanned(terms.cuda()).cpu(), total)


def test_equal_terms_round_alike() -> None:
    x = torch.full((TERMS,), 0.3678794)
    truth = x.double().sum().item()
    in_a_row, usual = in_turn(x, [0], False).item(), x.sum().item()
    assert abs(in_a_row / truth - 1) > 4 * abs(usual / truth - 1)
