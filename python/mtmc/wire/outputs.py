"""Is what a call returned made of plain tensors with memory of their own?"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

import torch

from mtmc.wire.blobs import by_key, declared_in, leaves, mro_of, table_of

# Kept before the candidate comes: a subclass or a patched class cannot answer for itself.
_PLAIN = torch.Tensor
_IS_STORED = torch.Tensor.untyped_storage
_STRIDED = torch.strided
_LEAVES = frozenset((_PLAIN, torch.nn.Parameter, bool, int, float, str, type(None)))
_CONTAINERS = frozenset((list, tuple, dict, OrderedDict, defaultdict, object))
# What a container is asked for its parts.
_ALWAYS, _ROWS, _BY_KEY = {"__class__", "__getattribute__"}, {"__iter__", "__len__"}, {"items", "keys", "values"}
_HOLDS = (GetSetDescriptorType, MemberDescriptorType)


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


def bytes_of_all(value: Any) -> int:
    """Of the elements of all tensors of a structure."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors(value))


def lazy(value: Any) -> str:
    """Why an output may not be computed yet; empty when all are plain, stored tensors in containers that hold them."""
    if way := own_way(value):
        return f"it is in a container of a class that says itself what is in it: {way}"
    for index, leaf in enumerate(leaves(value)):
        if isinstance(leaf, torch.Tensor):
            if type(leaf) not in (_PLAIN, torch.nn.Parameter):
                return f"output {index} is a {type(leaf).__name__}"
            own = [name for name, held in leaf.__dict__.items() if not _is_data(held)]
            if own and type(leaf) is _PLAIN:
                return f"output {index} carries attributes of its own: {', '.join(own)}"
            if leaf.is_neg() or leaf.is_conj():  # its memory holds something else
                return f"output {index} is not negated or conjugated yet"
            if leaf.layout != _STRIDED or (leaf.numel() and _IS_STORED(leaf).nbytes() == 0):
                return f"output {index} has no memory"
        elif not (leaf is None or type(leaf) in (bool, int, float, str)):
            return f"output {index} is a {type(leaf).__name__}"
    return ""


def own_way(value: Any) -> str:
    """How a container in a result may compute its parts when it is asked for them, after the clock has stopped; empty where all
    hold them."""
    kind, asked = type(value), _ALWAYS
    if kind in _LEAVES:
        return ""
    declared, by_place = declared_in(kind), isinstance(value, (list, tuple))
    if by_place:
        asked = asked | _ROWS
    elif isinstance(value, Mapping):
        asked = asked | _ROWS | _BY_KEY
    elif declared:
        asked = asked | {"__getattr__"}
    for cls in mro_of(kind):
        for name, said in () if cls in _CONTAINERS else table_of(cls).items():
            computes = hasattr(type(said), "__get__") and not isinstance(said, _HOLDS)
            if name in asked or (computes and (name in declared or name == "__dict__")):
                return f"{kind.__name__}.{name}"
    parts = value if by_place else (by_key(value) or {}).values()
    return next(filter(None, map(own_way, parts)), "")


def _is_data(value: Any) -> bool:
    """Nothing that could work later: torch.compile notes on its results which of their sizes may vary."""
    if type(value) in (set, frozenset, tuple, list):
        return all(map(_is_data, value))
    return value is None or type(value) in (bool, int, float, str)


def aliasing(some: Iterable[torch.Tensor], others: Iterable[torch.Tensor]) -> list[bool]:
    """Which of some tensors share storage with any of others?"""
    taken = {_IS_STORED(tensor).data_ptr() for tensor in others if tensor.numel()}
    return [bool(tensor.numel()) and _IS_STORED(tensor).data_ptr() in taken for tensor in some]


def spans(value: Any) -> list[tuple[int, int]]:
    """First and last address of each tensor's elements."""
    found = []
    for tensor in tensors(value):
        steps = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
        start = tensor.data_ptr()
        found.append((start, start + (steps + 1) * tensor.element_size() if tensor.numel() else start))
    return found


def self_overlapping(value: Any) -> list[bool]:
    """For each tensor: do several of its elements share memory (an expanded tensor)?"""
    return [
        any(stride == 0 and size > 1 for stride, size in zip(leaf.stride(), leaf.shape, strict=True))
        for leaf in tensors(value)
    ]
