"""Refuses values that a GPU's kernels assert of their arguments, before the kernel runs.

On a CPU an index beyond its tensor raises. On a GPU it is an assertion on the device: no call of the process works from then on.
The referee runs modules on arguments that may be none of theirs (other sizes, integers, a few rows of a table), and whoever
fails on them must be able to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Named = dict[str, Any]  # an operator's arguments


def check_on_gpu(func: Any, args: tuple[Any, ...], kwargs: Named) -> None:
    """IndexError or ValueError when this operator would stop the GPU that its first tensor is on."""
    check = CHECKS.get(func.overloadpacket.__name__.strip("_"))
    if check is not None and args and isinstance(args[0], torch.Tensor) and args[0].device.type != "cpu":
        check(named(func, args, kwargs))


def named(func: Any, args: tuple[Any, ...], kwargs: Named) -> Named:
    declared = func._schema.arguments
    defaults = {one.name: one.default_value for one in declared if one.has_default_value()}
    return defaults | dict(zip((one.name for one in declared), args, strict=False)) | kwargs


def _within(indices: Any, low: int, high: int) -> None:
    """Is each index at least low and less than high?"""
    if not isinstance(indices, torch.Tensor) or not indices.numel() or indices.dtype in (torch.bool, torch.uint8):
        return
    least, most = (int(bound) for bound in indices.aminmax())
    if least < low or most >= high:
        raise IndexError(f"index out of range: got {least} to {most}, wanted {low} to {high - 1}")


def _table(given: Named) -> None:
    _within(given["indices"], 0, given["weight"].shape[0])


def _axis(given: Named) -> None:
    tensor, index = given["self"], given["index"]
    size = tensor.shape[given["dim"]] if tensor.dim() else 1
    _within(index, 0, size)


def _axis_from_either_end(given: Named) -> None:
    tensor, index = given["self"], given["index"]
    size = tensor.shape[given["dim"]] if tensor.dim() else 1
    _within(index, -size, size)


def _anywhere(given: Named) -> None:
    size = given["self"].numel()
    _within(given["index"], -size, size)


def _axes(given: Named) -> None:
    """A mask takes as many axes as it has."""
    axis, shape = 0, given["self"].shape
    for index in given["indices"]:
        if isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8):
            axis += index.dim()
            continue
        if index is not None:
            _within(index, -shape[axis], shape[axis])
        axis += 1


def _classes(given: Named) -> None:
    scores, target = given["self"], given["target"]
    _within(target[target != given["ignore_index"]], 0, scores.shape[1 if scores.dim() > 1 else 0])


def _probabilities(given: Named) -> None:
    p = given.get("p", given["self"])  # bernoulli's overloads
    if isinstance(p, torch.Tensor) and not bool(((p >= 0) & (p <= 1)).all()):
        raise ValueError("not a probability: wanted 0 to 1")


def _weights(given: Named) -> None:
    p = given["self"]
    if not bool((p.isfinite() & (p >= 0)).all()):
        raise ValueError("not a weight of a draw: wanted what is finite and not negative")


CHECKS: dict[str, Callable[[Named], None]] = {
    "embedding": _table,
    "embedding_bag": _table,
    "embedding_bag_forward_only": _table,
    "index": _axes,
    "index_put": _axes,
    "index_put_impl": _axes,
    "unsafe_index": _axes,
    "index_select": _axis,
    "index_add": _axis,
    "index_copy": _axis,
    "index_reduce": _axis,
    "index_fill": _axis_from_either_end,
    "gather": _axis,
    "scatter": _axis,
    "scatter_add": _axis,
    "scatter_reduce": _axis,
    "take": _anywhere,
    "put": _anywhere,
    "nll_loss_forward": _classes,
    "nll_loss2d_forward": _classes,
    "binary_cross_entropy": _probabilities,
    "bernoulli": _probabilities,
    "multinomial": _weights,
}
