"""How many bytes any correct result must touch: the outputs, and of each large operand the share that matters.

The share is probed: an element whose value is replaced must change some output. An embedding's unused rows or the lower
half of a triangular matrix do not count.
"""

from __future__ import annotations

from typing import Any

import torch

from mtmc.referee.reference import Reference, blobs_copy
from mtmc.wire.blobs import same_bits
from mtmc.wire.outputs import bytes_of_all, tensors
from mtmc.wire.plain import put

LARGE = 1 << 20  # bytes; smaller operands are not worth a probe
PROBES = 12


def nominal_bytes(reference: Reference, arguments: list[Any], results: list[Any]) -> int:
    """Of all operands and results: never less than what must be touched."""
    return bytes_of_all([arguments, *_held_by(reference), results])


def touched_bytes(reference: Reference, arguments: list[Any]) -> float:
    """Takes a dozen calls for each large operand."""
    reference.load(reference.model, reference.pristine)
    arguments = blobs_copy(arguments)
    base = [dense.clone() for dense in tensors(reference.called(*arguments))]
    needed = float(bytes_of_all(base))
    for operand in [*tensors(arguments), *_held_by(reference)]:
        size = operand.numel() * operand.element_size()
        if size >= LARGE and operand.is_floating_point():
            needed += size * _share_that_matters(reference, arguments, operand, base)
    return needed


def _held_by(reference: Reference) -> list[torch.Tensor]:
    return [*reference.model.parameters(), *reference.model.buffers()]


def _share_that_matters(
    reference: Reference, arguments: list[Any], operand: torch.Tensor, base: list[torch.Tensor]
) -> float:
    generator = torch.Generator().manual_seed(1)
    hits = 0
    for place in torch.randint(0, operand.numel(), (PROBES,), generator=generator).tolist():
        where = _index(place, operand.shape)
        before = operand[where].clone()
        put(reference.model, {key: reference.pristine[key].clone() for key in reference.plain})
        operand[where] = float("nan")
        changed = tensors(reference.called(*arguments))
        hits += len(changed) != len(base) or not all(map(same_bits, changed, base))
        operand[where] = before
    return hits / PROBES


def _index(place: int, shape: torch.Size) -> tuple[int, ...]:
    """Where the element number `place` is. torch.unravel_index imports sympy, seconds of a certification."""
    where: list[int] = []
    for length in reversed(shape):
        place, rest = divmod(place, length)
        where.insert(0, rest)
    return tuple(where)
