"""Dropout by a generator of the candidate's own: its mask cannot be torch's, so it is judged by what any mask must obey.

Where an output element is either 0 or one value (the kept one, scale included), the candidate is compared with the truth
under the candidate's own mask, and fractions of the mask are compared with those of eager's masks.
"""

from __future__ import annotations

from typing import Any

import torch


def all_kept(drawn: list[Any]) -> list[Any] | None:
    """What dropout would have drawn had it kept everything; None when other random operators were called."""
    kept = []
    for value in drawn:
        masks = value if isinstance(value, (list, tuple)) else [value]
        mask = masks[-1]  # native_dropout returns (result, mask)
        if not isinstance(mask, torch.Tensor) or not bool(((mask == 0) | (mask == 1)).all()):
            return None
        kept.append([*masks[:-1], torch.ones_like(mask)] if len(masks) > 1 else torch.ones_like(mask))
    return kept


def is_masked(t: torch.Tensor, kept: torch.Tensor) -> bool:
    """Is each finite element of the truth 0 or what it is when nothing is dropped?"""
    return bool(((t == 0) | (t == kept) | ~torch.isfinite(kept)).all())


def under_own_mask(c: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """The truth had torch dropped what the candidate dropped. 0 times infinity is NaN."""
    finite = torch.where(c == 0, 0.0, kept)
    return torch.where(torch.isfinite(kept), finite, torch.where(torch.isnan(c), torch.nan, kept))


def fractions(c: torch.Tensor, kept: torch.Tensor, first: torch.Tensor | None) -> dict[str, tuple[int, int]]:
    """Of the elements that are not 0 by themselves: how many are dropped, have the same fate as their neighbours along the
    last axis and across it, and as in the first call; each with how many elements, or pairs of them, there are."""
    counts = (torch.isfinite(kept) & (kept != 0)).reshape(-1)
    dropped = (c == 0).reshape(-1)
    found = {"dropped": _hits(dropped, counts)}
    for name, step in (("like the next", 1), ("like the one below", c.shape[-1] if c.dim() else 1)):
        found[name] = _hits(dropped[step:] == dropped[:-step], counts[step:] & counts[:-step])
    if first is not None:
        found["like the first call"] = _hits(dropped == (first == 0).reshape(-1), counts)
    return found


def _hits(flags: torch.Tensor, where: torch.Tensor) -> tuple[int, int]:
    return int((flags & where).sum()), int(where.sum())
