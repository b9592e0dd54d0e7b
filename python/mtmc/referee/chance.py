"""Dropout by a generator of the candidate's own: its mask cannot be torch's, so it is judged by what any mask must obey.

Where an output element is either 0 or one value (the kept one, scale included), the candidate is compared with the truth
under the candidate's own mask, and fractions of the mask are compared with those of eager's masks.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

MOST_MASKS, MOST_ELEMENTS = 8, 1 << 22  # that are kept of one output; and of masks that are compared in all places
MOST_KEPT = 1 << 24  # elements of masks that are kept as they lie


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


class Masks:
    """The masks of one output that somebody has drawn so far: the first ones and the last ones, to be compared wherever they may have
    been moved, and as many as MOST_KEPT allows, to be compared as they lie."""

    def __init__(self) -> None:
        self.seen: list[Spectra] = []
        self.all: list[torch.Tensor] = []  # -1: went through, 1: was dropped, 0: does not count

    def like_earlier(self, c: torch.Tensor, kept: torch.Tensor) -> dict[str, tuple[int, int]]:
        """How many elements have the fate that an earlier mask holds for them, when that is rolled as a row or along its axes, and
        maybe reversed, as it fits best; and that another part of the same mask has, rolled likewise."""
        counts = torch.isfinite(kept) & (kept != 0)
        pairs = int(counts.sum())
        if not 1 < pairs <= MOST_ELEMENTS or c.numel() > MOST_ELEMENTS:
            return {}
        fate = torch.where(counts, (c == 0).float(), 0.0)
        share = float(fate.sum()) / pairs
        if not 0 < share < 1:
            return {}
        mask = torch.where(counts, fate - share, 0.0).reshape(c.shape or (1,)).cpu()
        spectra = Spectra(mask)
        alike = [spectra.best_fit(earlier) for earlier in self.seen if earlier.shape == spectra.shape]
        alike += [_fit_in_place(mask, old, share) for old in self.all if old.shape == mask.shape]
        if sum(old.numel() for old in self.all) < MOST_KEPT:
            self.all.append(mask.sign().to(torch.int8))
        self.seen = [*self.seen[: MOST_MASKS // 2], *self.seen[MOST_MASKS // 2 :][-(MOST_MASKS // 2 - 1) :], spectra]
        both = max(1, pairs * pairs // c.numel())  # elements that count in both masks, wherever one is rolled to
        found = {"like itself, moved": spectra.best_fit_of_parts()}
        if alike:
            found["like an earlier call's, moved"] = max(alike)
        return {
            name: (round(both * (0.5 + 0.5 * min(1.0, fit / (both * share * (1 - share))))), both)
            for name, fit in found.items()
        }


def _fit_in_place(mask: torch.Tensor, old: torch.Tensor, share: float) -> float:
    """The correlation with an earlier mask (1 - share where it dropped, -share where it let through), as they lie."""
    here, there = mask.reshape(-1), old.reshape(-1).to(mask.dtype)
    return float(0.5 * torch.dot(here, there) + (0.5 - share) * torch.dot(here, there.abs()))


class Spectra:
    """The Fourier transforms of a mask, as a row and as it is."""

    def __init__(self, mask: torch.Tensor) -> None:
        self.shape = tuple(mask.shape)
        self.parts = {shape: torch.fft.rfftn(mask.reshape(shape)) for shape in {(mask.numel(),), self.shape}}

    def best_fit(self, earlier: Spectra) -> float:
        """The largest circular correlation of two masks, as rows and as they are, with any axes of the earlier one reversed."""
        best = 0.0
        for shape, here in self.parts.items():
            for count in range(len(shape) + 1):
                for axes in itertools.combinations(range(len(shape)), count):
                    there = reversed_along(earlier.parts[shape], axes).conj()
                    best = max(best, float(torch.fft.irfftn(here * there, s=shape).max()))
        return best

    def best_fit_of_parts(self) -> float:
        """The largest circular correlation of a mask with itself where it is not left in place."""
        best = 0.0
        for shape, here in self.parts.items():
            fits = torch.fft.irfftn(here * here.conj(), s=shape)
            fits.view(-1)[0] = 0
            best = max(best, float(fits.max()))
        return best


def reversed_along(spectrum: torch.Tensor, axes: tuple[int, ...]) -> torch.Tensor:
    """The transform of what is reversed along some axes (and rolled by one): its frequencies there have the other sign. Of the
    last axis only half are kept; with all signs changed they are the conjugates."""
    last = spectrum.dim() - 1
    turned = [d for d in range(last) if (d in axes) != (last in axes)]
    found = spectrum.flip(turned).roll([1] * len(turned), turned) if turned else spectrum
    return found.conj() if last in axes else found


def _hits(flags: torch.Tensor, where: torch.Tensor) -> tuple[int, int]:
    return int((flags & where).sum()), int(where.sum())
