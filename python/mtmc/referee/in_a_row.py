"""Calls in a row that have arguments of their own: on the same ones what lasts from call to call may look as if it did not, such as
an average over equal values, or attention to equal keys.
"""

from __future__ import annotations

from typing import Any

import torch

from mtmc.wire import blobs


class InARow(list[Any]):
    """The arguments of the first of several calls in a row; `later` are those of the others."""

    later: list[list[Any]]


def arguments_of(arguments: list[Any], index: int) -> list[Any]:
    """Those of call number `index` of several in a row."""
    return arguments.later[index - 1] if index and isinstance(arguments, InARow) else arguments


def moved_in_a_row(arguments: list[Any], where: torch.device) -> list[Any]:
    """Arguments, and those of later calls, on a device."""
    if not isinstance(arguments, InARow):
        return blobs.moved(arguments, where)
    found = InARow(blobs.moved(list(arguments), where))
    found.later = [blobs.moved(one, where) for one in arguments.later]
    return found
