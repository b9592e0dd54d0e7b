"""The strict comparison: two runs of the same tests, in processes of their own and from the same seeds, leaf by leaf."""

from __future__ import annotations

from typing import Any

import torch

# What a leaf of each type may differ by, absolutely and relatively; of other types (integers, bool) nothing. KernelBench's
# limits, and one for double precision.
TOLERANCE = {
    torch.float64: 1e-7,
    torch.complex128: 1e-7,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 1e-2,
}
Run = list[dict[str, Any]]  # Call.to_plain() of each call


def difference(wanted: Run, got: Run) -> str:
    """The first difference in words, or "". A call that the golden code refuses must be refused, in whatever words."""
    if len(wanted) != len(got):
        return f"it was called {len(got)} times, the golden code {len(wanted)} times"
    for number, (one, other) in enumerate(zip(wanted, got, strict=True), 1):
        if one["key"] != other["key"]:
            return f"call {number} is another: ({other['key']}) instead of ({one['key']})"
        if bool(one["raised"]) != bool(other["raised"]):
            return f"call {number} ended with {other['raised'] or 'no error'} instead of {one['raised'] or 'none'}"
        if one["raised"]:
            continue
        found = difference_of_call(one, other)
        if found:
            return f"call {number} ({one['key']}): {found}"
    return ""


def difference_of_call(wanted: dict[str, Any], got: dict[str, Any]) -> str:
    for what, name in (("structure", "the result's structure"), ("changed", "the arguments written to")):
        if wanted[what] != got[what]:
            return f"{name}: {got[what]} instead of {wanted[what]}"
    for place, (one, other) in enumerate(zip(wanted["leaves"], got["leaves"], strict=True)):
        if found := difference_of_leaf(one, other):
            return f"leaf {place}: {found}"
    return ""


def difference_of_leaf(wanted: Any, got: Any) -> str:
    if not isinstance(wanted, torch.Tensor) or not isinstance(got, torch.Tensor):
        return "" if type(wanted) is type(got) and wanted == got else f"{got} instead of {wanted}"
    if (wanted.dtype, wanted.shape) != (got.dtype, got.shape):
        return f"{got.dtype} {list(got.shape)} instead of {wanted.dtype} {list(wanted.shape)}"
    limit = TOLERANCE.get(wanted.dtype, 0.0)
    if wanted.is_floating_point() and wanted.itemsize == 1:  # torch computes nothing with these
        wanted, got = wanted.float(), got.float()
    near = torch.isclose(got, wanted, rtol=limit, atol=limit, equal_nan=True)
    if bool(near.all()):
        return ""
    wrong = ~near
    first = int(wrong.flatten().nonzero()[0])
    pair = f"{got.flatten()[first].item()} instead of {wanted.flatten()[first].item()}"
    return f"{int(wrong.sum())} of {wanted.numel()} elements differ, the first is {pair}"
