"""Arguments moved by what no kernel can tell apart: what that makes of a result, no kernel can be more exact than."""

from __future__ import annotations

from collections.abc import Callable

import torch

from mtmc.device.random_state import generator_on

PIECE = 1 << 26  # elements that are moved at a time
SHORT_AMONG = 1 / 16  # so many of a type's values are short: the last four digits of their mantissas are 0


def half_an_ulp(seed: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Widens a tensor and moves each element by half a unit in the last place of its own type, up or down.

    Short numbers stay, which whole ones, halves and quarters are: they may be class ids, the cells of a board, a mask or places, and
    below 1 by however little `.long()` makes 0 of them, `== 1` false, and `(1 - mask) * -1e9` a score. No kernel rounds what it is
    given so, and all of its sums are exact. Those that are short by chance are too few to matter."""
    generators: dict[torch.device, torch.Generator] = {}

    def move(x: torch.Tensor) -> torch.Tensor:
        generator = generators.setdefault(x.device, generator_on(x.device, seed))
        wide, eps = x.to(torch.float64, copy=True), torch.finfo(x.dtype).eps
        for part in wide.view(-1).split(PIECE) if wide.is_contiguous() else [wide]:
            up = torch.randint(0, 2, part.shape, generator=generator, device=x.device, dtype=torch.int8)
            digits = torch.frexp(part).mantissa * (2 / eps * SHORT_AMONG)
            part.mul_(1 + (up.double() * 2 - 1).masked_fill_(digits == digits.round(), 0) * eps / 2)
        return wide

    return move
