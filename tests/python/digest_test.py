"""A hash of structures of tensors sees every value."""

from __future__ import annotations

import torch

from mtmc.device.digest import MIXER, digest


def test_mixing_sees_every_bit_and_place() -> None:
    x = torch.randn(1000)
    same, moved, changed = x.clone(), x.flip(0), x.clone()
    changed[999] = torch.nextafter(changed[999], torch.tensor(9.0))
    mix = MIXER.mix
    assert mix(x) == mix(same) and mix(x) != mix(moved) and mix(x) != mix(changed)
    assert mix(x[1:].contiguous()) != mix(x[:-1].contiguous()) and mix(x[:3].half()) != mix(x[:3].half() + 1)


def test_the_digest_tells_types_shapes_and_numbers_apart() -> None:
    x = torch.zeros(4, 2)
    values = [x, x.view(8), x.int(), [x, 1.0], [x, float("nan")], [x, None], x + 1]
    assert len({digest(value) for value in values}) == len(values)
    assert digest((x.clone(), {"a": 1.0})) == digest([x.t().contiguous().t(), 1.0])
