"""Outside the slices: every element of a large result against eager's, where the truth is not known.

|c - e| <= |c - t| + |t - e|: what a candidate may err and what eager itself errs, together. The largest difference is found
whatever the size of the result, so that a wrong tile cannot hide among right ones: an element off by more than both budgets is
seen with certainty. What errs by less than that, and by more than the first budget alone, is seen where it lies in a slice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from mtmc.device import one_pass
from mtmc.referee.measure import poisoned
from mtmc.wire.blobs import same_bits

BLOCK = one_pass.BLOCK  # elements whose rms difference is taken together
WORST = 4  # samples that are named for their largest element, and as many for their worst block
PIECE = {"cpu": 1 << 22, "cuda": 1 << 26}  # elements that are compared at a time


@dataclass
class Difference:
    """Of a candidate's c and eager's e, where the truth is not known. Errors of blocks are relative to a scale, the rms of the
    samples that are chosen of e."""

    numel: int = 0
    max_error: float = 0.0  # largest |c - e|
    block_error: float = 0.0  # largest rms of c - e within a block
    max_eager: float = 0.0
    nonfinite: int = 0  # c is not finite where e is
    mismatched: int = 0  # e is not finite, and c is not alike
    official_bad: int = 0  # elements outside allclose of this rtol and atol
    legacy_bad: int = 0
    # Samples: of what is not alike, of the largest element, of the worst block.
    worst: Callable[[], list[int]] = list
    exact: bool = True  # every bit of c is e's, in the known samples, too
    poison: int = 0  # see `poisoned`


def rms(x: torch.Tensor) -> float:
    """Of what is finite."""
    x = _only_finite(torch.view_as_real(x) if x.is_complex() else x)
    return float(torch.linalg.vector_norm(x)) / math.sqrt(max(x.numel(), 1))


def difference(
    c: torch.Tensor, e: torch.Tensor, axis: int, known: torch.Tensor, rules: tuple[float, float], scale: float
) -> Difference:
    """Element by element, and block by block in the order of memory. Samples along `axis` that are `known` do not count.
    `rules`: the official tolerance and the legacy one."""
    found = Difference(numel=e.numel() // e.shape[axis] * (e.shape[axis] - len(known)))
    at_once = one_pass.differ(c, e, axis, known, rules)
    if at_once is not None and not at_once.strange:
        return _of_blocks(found, at_once, c, e, axis, known, scale)
    found.exact, found.poison = same_bits(c, e), poisoned(c, e)
    if e.is_complex():
        c, e = torch.view_as_real(c), torch.view_as_real(e)
    if found.exact and math.isfinite(float(e.sum())):
        return found
    while e.shape[0] == 1 and axis > 0:
        c, e, axis = c[0], e[0], axis - 1
    strange, places = [], ([], [])
    for start, part, eager in _pieces(c, e):
        part = _without(part, eager, axis, known - start if axis == 0 else known)
        off, differs = part - eager, None

        def sample_of(place: int, shape: torch.Size = off.shape, start: int = start) -> int:
            return place // math.prod(shape[axis + 1 :]) % shape[axis] + (start if axis == 0 else 0)

        if not math.isfinite(float(off.sum())):
            off, unlike = _of_finite(found, part, eager)
            differs = unlike | part.isnan()  # to allclose no NaN is like another
            if bool(unlike.any()):
                strange.append(sample_of(int(unlike.reshape(-1).byte().argmax())))
        _count_rules(found, off, eager, differs, rules)
        flat = off.reshape(-1)
        largest, squares = _by_block(flat)
        found.max_error = max(found.max_error, float(largest.max()))
        found.block_error = max(found.block_error, float(squares.max().sqrt()) / scale if scale else 0.0)
        found.max_eager = max(found.max_eager, float(torch.linalg.vector_norm(_only_finite(eager), math.inf)))
        for kept, of_blocks in zip(places, (largest, squares), strict=True):
            block = int(of_blocks.argmax())
            place = block * BLOCK + int(flat[block * BLOCK : (block + 1) * BLOCK].abs().argmax())
            kept.append((float(of_blocks[block]), sample_of(place)))
    worst = [sample for kept in places for size, sample in sorted(kept, reverse=True)[:WORST] if size > 0]
    found.worst = lambda: list(dict.fromkeys(strange[:WORST] + worst))
    return found


def _of_blocks(
    found: Difference,
    seen: one_pass.Blocks,
    c: torch.Tensor,
    e: torch.Tensor,
    axis: int,
    known: torch.Tensor,
    scale: float,
) -> Difference:
    """What is not finite is not among it."""
    sizes = torch.full_like(seen.squares, one_pass.BLOCK)
    sizes[-1] = e.numel() - one_pass.BLOCK * (len(sizes) - 1)
    means = seen.squares / sizes
    found.max_error, found.max_eager = float(seen.largest.max()), seen.top
    found.block_error = float(means.max().sqrt()) / scale if scale else 0.0
    found.official_bad, found.legacy_bad = seen.official_bad, seen.legacy_bad
    found.exact, found.poison = seen.exact, seen.poison

    inner, size = math.prod(e.shape[axis + 1 :]), e.shape[axis]

    def sample_of(block: int) -> int:
        places = torch.arange(block * one_pass.BLOCK, min((block + 1) * one_pass.BLOCK, e.numel()), device=e.device)
        samples = places // inner % size
        off = (c.view(-1)[places].float() - e.view(-1)[places].float()).abs()
        return int(samples[torch.where(torch.isin(samples, known), 0.0, off).argmax()])

    def worst() -> list[int]:
        chosen = [rows.topk(min(WORST, len(rows))) for rows in (seen.largest, means)]
        rows = [row for top in chosen for row in zip(top.values.tolist(), top.indices.tolist(), strict=True)]
        return list(dict.fromkeys(sample_of(block) for largest, block in rows if largest > 0))

    found.worst = worst
    return found


def off_truth(c: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    """c - t in the type of t, a truth in double; 0 where one of them is not finite."""
    off = c - t
    return off if bool(off.sum().isfinite()) else torch.where(c.isfinite() & t.isfinite(), off, 0.0)


def worst_block(off: torch.Tensor, scale: float) -> float:
    """As Difference.block_error, of a slice that is so far off its truth."""
    if not scale or not off.numel():
        return 0.0
    off = torch.view_as_real(off) if off.is_complex() else off
    return float(_mean_squares(off.reshape(-1)).max().sqrt()) / scale


def _pieces(c: torch.Tensor, e: torch.Tensor) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Rows of the first axis, at least one at a time."""
    rows = max(1, PIECE[e.device.type] // max(1, math.prod(e.shape[1:])))
    for start in range(0, e.shape[0], rows):
        part, eager = c[start : start + rows], e[start : start + rows]
        if e.element_size() < 4:
            part, eager = part.float(), eager.float()
        yield start, part, eager


def _without(c: torch.Tensor, e: torch.Tensor, axis: int, known: torch.Tensor) -> torch.Tensor:
    """c with eager's values where they need not be compared."""
    here = known[(known >= 0) & (known < e.shape[axis])]
    return c.index_copy(axis, here, e.index_select(axis, here)) if len(here) else c


def unlike(c: torch.Tensor, e: torch.Tensor) -> bool:
    """Is an element not finite in one of them, and another in the other?"""
    return bool((other_than_lost(c, e) | lost_in(c, e)).any())


def lost_in(c: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """Where c is not finite and e is."""
    return ~c.isfinite() & e.isfinite()


def other_than_lost(c: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """Where e is not finite and c is other."""
    return ~e.isfinite() & ~((c.isnan() & e.isnan()) | (c == e))


def _of_finite(found: Difference, c: torch.Tensor, e: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """c - e where both are finite, else 0, and where they are not alike; counts the latter."""
    finite_c, finite_e = c.isfinite(), e.isfinite()
    other = other_than_lost(c, e)
    lost = lost_in(c, e)
    found.nonfinite += int(lost.sum())
    found.mismatched += int(other.sum())
    return torch.where(finite_c & finite_e, c - e, 0.0), other | lost


def _count_rules(
    found: Difference, off: torch.Tensor, e: torch.Tensor, differs: torch.Tensor | None, rules: tuple[float, float]
) -> None:
    size, scale = off.abs(), e.abs().nan_to_num_(posinf=0.0)

    def beyond(rule: float) -> int:
        bad = size > scale * rule + rule
        return int((bad if differs is None else bad | differs).sum())

    if bad := beyond(rules[0]):
        found.official_bad += bad
        found.legacy_bad += beyond(rules[1])


def _by_block(flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest element and the mean square of each block."""
    largest = torch.cat([torch.linalg.vector_norm(block, math.inf, dim=1) for block in _blocks(flat)])
    return largest.double(), _mean_squares(flat)


def _mean_squares(flat: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.linalg.vector_norm(b, dim=1).double().square() / b.shape[1] for b in _blocks(flat)])


def _blocks(flat: torch.Tensor) -> list[torch.Tensor]:
    """The last may be shorter."""
    whole = flat.numel() // BLOCK * BLOCK
    blocks = [flat[:whole].view(-1, BLOCK)] if whole else []
    return blocks + ([flat[whole:].view(1, -1)] if whole < flat.numel() else [])


def _only_finite(x: torch.Tensor) -> torch.Tensor:
    return x if math.isfinite(float(x.sum())) else torch.where(x.isfinite(), x, 0.0)
