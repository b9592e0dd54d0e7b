"""Many small outputs are measured together as each of them is for itself."""

from __future__ import annotations

import math
import random

import pytest
import torch

from mtmc.device.memory import POISON
from mtmc.referee import small_rows
from mtmc.referee.measure import measure
from mtmc.referee.small_rows import measure_small

KINDS = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool]
FRESH = torch.full((8,), POISON, dtype=torch.uint8)  # a few bytes of memory that nobody wrote


def row(rng: random.Random, kind: torch.dtype) -> small_rows.Row:
    """Some right, some nearly, some wrong, some strange."""
    shape = rng.choice([(), (1,), (7,), (96,), (3, 4), (0,)])
    if not kind.is_floating_point:
        t = torch.randint(0, 2, shape).to(kind) if kind == torch.bool else torch.randint(0, 100, shape).to(kind)
        wrong = torch.rand(shape) < rng.choice([0, 0.3])
        return torch.where(wrong, 1 - t if kind != torch.bool else ~t, t), t.clone(), t
    scale = rng.choice([1, 1e-3, 1e-30, 0, 1e3])
    t = torch.randn(shape, dtype=torch.float64) * scale
    e = t.to(kind)
    c = (t * (1 + torch.randn(shape) * rng.choice([0, 1e-7, 1e-3, 1]))).to(kind)
    for strange in (math.nan, math.inf, 0.0, -0.0, FRESH.view(kind)[0]):
        if c.dim() and c.numel() and rng.random() < 0.1:
            for value in rng.choice([(c,), (c, e), (e,)]):
                value[rng.randrange(len(c))] = strange
    return c, e, t


@pytest.mark.parametrize("seed", range(20))
def test_measurements_are_those_of_each_row_for_itself(seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    rows = [row(rng, rng.choice(KINDS)) for _ in range(200)]
    found = measure_small(rows)
    assert sum(one is not None for one in found) > 50
    for one, (c, e, t) in zip(found, rows, strict=True):
        wanted = measure(c, e, t, None)
        if one is None:
            continue
        assert list(one) == list(wanted)
        for key, value in wanted.items():
            assert one[key] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), key


def test_others_are_left_alone() -> None:
    t = torch.ones(3, dtype=torch.float64)
    lost = torch.tensor([1, math.nan, 1])
    rows = [
        (lost, t.float(), t),
        (t.float(), lost, t),
        (t.float(), t.float(), t * math.inf),
        (t.float(), t.float(), t * 1e60),  # float32 does not hold it
        (t[:2].float(), t.float(), t),
        (t.half(), t.float(), t),
        (1.0, 1.0, 1.0),
        *[(t[None].float(), t[None].float(), t[None])] * 5,  # rows of the last axis are looked at, too
        *[(t.bool(), t.bool(), t.bool())] * 5,
    ]
    plain = [(t.float(), t.float(), t)] * small_rows.FEWEST
    assert measure_small(plain[1:]) == [None] * (small_rows.FEWEST - 1)
    assert [one is not None for one in measure_small(rows + plain)] == [False] * len(rows) + [True] * len(plain)


def test_errors_that_squares_would_lose_are_left_alone() -> None:
    t = torch.full((3,), 1e-140, dtype=torch.float64)
    found = measure_small([(t * 2, t, t), (t * 1e300, t, t), *[(t.new_ones(3), t.new_ones(3), t.new_ones(3))] * 3])
    assert [one is not None for one in found] == [False, False, True, True, True]
