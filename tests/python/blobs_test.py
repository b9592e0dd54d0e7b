"""Structures of tensors: what is moved keeps its structure, and what is compared every bit."""

from __future__ import annotations

import math
from collections import namedtuple

import torch

from mtmc.wire import blobs


def test_what_is_moved_keeps_its_structure() -> None:
    pair = namedtuple("pair", "a b")
    x = torch.zeros(2)
    made = blobs.moved([(x, [x, 3]), pair(x, {"c": x})], torch.device("meta"))
    assert type(made) is list and type(made[0]) is tuple and type(made[0][1]) is list and type(made[1]) is pair
    assert made[0][0].is_meta and made[0][1][1] == 3 and made[1].a.is_meta and made[1].b["c"].is_meta


def test_bits_of_lazy_conjugates_are_those_of_their_values() -> None:
    value = torch.complex(torch.randn(4, 3), torch.randn(4, 3))
    assert blobs.same_bits(value.conj(), value.conj().resolve_conj())
    assert not blobs.same_bits(value.conj(), value)
    assert blobs.same_bits(value.t(), value.t().contiguous())


def test_many_tensors_come_to_the_host_by_one_copy_with_every_bit() -> None:
    conjugate = torch.complex(torch.randn(3), torch.randn(3)).conj()
    values = [
        torch.tensor([True, False, True]),
        torch.randn(5, 3).t(),
        torch.tensor(7, dtype=torch.int64),
        torch.randn(3).half(),
        torch.randn(0, 4),
        torch.randn(2, 2, dtype=torch.float64)[:, 1],
        conjugate,
        torch.tensor([math.nan, -0.0]).bfloat16(),
    ]
    for there, here in zip(values, blobs.together(values), strict=True):
        assert (there.dtype, there.shape) == (here.dtype, here.shape) and blobs.same_bits(there, here)
    assert blobs.together([]) == []


def test_what_lies_on_the_host_or_is_no_tensor_stays_itself() -> None:
    values = [torch.zeros(2), 3.0, None, torch.zeros(1, device="meta")]
    assert all(a is b for a, b in zip(blobs.on_host(values), values, strict=True))
