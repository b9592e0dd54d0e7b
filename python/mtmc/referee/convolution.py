"""A convolution as products of matrices: a GPU's libraries convolve in double without its matrix units."""

from __future__ import annotations

import itertools

import torch

COLUMNS = 1 << 27  # elements of the windows that are laid out at a time: a gigabyte in double


def convolution(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> torch.Tensor:
    """x: [N, C, sizes]; weight: [O, C/groups, kernel], or [C, O/groups, kernel] of a transposed convolution; result: [N, O, sizes]."""
    x = x.unflatten(1, (groups, -1))
    if transposed:
        of_place = weight.unflatten(0, (groups, -1)).transpose(1, 2)  # [groups, O/groups, C/groups, kernel]
        result = _transposed(x, of_place, stride, dilation, output_padding)
        spans = zip(padding, result.shape[3:], strict=True)
        result = result[(..., *[slice(p, n - p) for p, n in spans])]
    else:
        of_place = weight.unflatten(0, (groups, -1))
        sizes = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(x.shape[3:], padding, dilation, weight.shape[2:], stride, strict=True)
        ]
        places = list(itertools.product(*map(range, weight.shape[2:])))
        starts = [[k * d for k, d in zip(place, dilation, strict=True)] for place in places]
        result = _products(_padded(x, padding, padding), of_place, places, starts, stride, sizes)
    result = result.flatten(1, 2)
    return result if bias is None else result + bias.view(-1, *[1] * len(stride))


def _transposed(
    x: torch.Tensor, of_place: torch.Tensor, stride: list[int], dilation: list[int], more: list[int]
) -> torch.Tensor:
    """Before its edges are cut off. Result i * stride + k * dilation sums x[i]: those of one remainder by the stride come from the
    same places of the kernel, and are a convolution of x with them."""
    sizes, kernel = x.shape[3:], of_place.shape[3:]
    grown = [
        (n - 1) * s + (k - 1) * d + 1 + m for n, s, k, d, m in zip(sizes, stride, kernel, dilation, more, strict=True)
    ]
    left = [(k - 1) * d // s for k, d, s in zip(kernel, dilation, stride, strict=True)]
    right = [max(0, -(-g // s) - n) for g, s, n in zip(grown, stride, sizes, strict=True)]
    x = _padded(x, left, right)
    result = x.new_zeros(*x.shape[:2], of_place.shape[1], *grown)
    for phase in itertools.product(*map(range, stride)):
        part = result[(..., *[slice(r, None, s) for r, s in zip(phase, stride, strict=True)])]
        along = [
            [k for k in range(n) if k * d % s == r] for n, d, s, r in zip(kernel, dilation, stride, phase, strict=True)
        ]
        places = list(itertools.product(*along))
        if not places or not part.numel():
            continue
        starts = [
            [b - (k * d - r) // s for k, d, r, s, b in zip(place, dilation, phase, stride, left, strict=True)]
            for place in places
        ]
        part.copy_(_products(x, of_place, places, starts, [1] * len(stride), list(part.shape[3:])))
    return result


def _padded(x: torch.Tensor, left: list[int], right: list[int]) -> torch.Tensor:
    pads = [pad for pair in zip(reversed(left), reversed(right), strict=True) for pad in pair]
    return torch.nn.functional.pad(x, pads) if any(pads) else x


def _products(
    x: torch.Tensor,
    of_place: torch.Tensor,
    places: list[tuple[int, ...]],
    starts: list[list[int]],
    step: list[int],
    sizes: list[int],
) -> torch.Tensor:
    """The sum over places of of_place[..., *place] @ the window of x that begins at its start. [N, groups, O/groups, *sizes]"""

    def window(start: list[int]) -> torch.Tensor:
        return x[(..., *[slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(start, sizes, step, strict=True)])]

    batch, groups, channels = x.shape[:3]
    results = of_place.shape[1]
    result = x.new_zeros(batch, groups, results, *sizes)
    if channels == 1:
        for place, start in zip(places, starts, strict=True):
            result.addcmul_(of_place[(..., *place)].view(groups, results, *[1] * len(sizes)), window(start))
        return result
    rows = result.view(batch * groups, results, -1)
    count = max(1, COLUMNS // max(1, batch * groups * channels * rows.shape[2]))
    for first in range(0, len(places), count):
        chosen = slice(first, first + count)
        columns = torch.stack([window(start) for start in starts[chosen]], 2)  # [N, groups, places, C/groups, *sizes]
        factor = torch.stack([of_place[(..., *place)] for place in places[chosen]], 2)  # [groups, O, places, C]
        factor = factor.flatten(2).expand(batch, -1, -1, -1).reshape(batch * groups, results, -1)
        rows.baddbmm_(factor, columns.flatten(2, 3).flatten(3).flatten(0, 1))
    return result
