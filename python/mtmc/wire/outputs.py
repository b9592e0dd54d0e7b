"""Is what a call returned made of plain tensors with memory of their own?"""

from __future__ import annotations

from abc import ABCMeta
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

import torch

from mtmc.wire.blobs import by_key, declared_in, leaves, mro_of, table_of
from mtmc.wire.forms import form_of, rebuilt, scalar_of

# Kept before the candidate comes: a subclass or a patched class cannot answer for itself.
_PLAIN = torch.Tensor
_IS_STORED = torch.Tensor.untyped_storage
_STRIDED = torch.strided
_TENSORS = (_PLAIN, torch.nn.Parameter)
_SCALARS = (bool, int, float, str, type(None))
_CONTAINERS = (list, tuple, dict, OrderedDict, defaultdict, object)
# What a container is asked for its parts.
_ALWAYS, _ROWS, _BY_KEY = {"__class__", "__getattribute__"}, {"__iter__", "__len__"}, {"items", "keys", "values"}
STRUCTURES = "tensors in tuples, named tuples, lists, dicts, dataclasses and ModelOutputs"


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


def bytes_of_all(value: Any) -> int:
    """Of the elements of all tensors of a structure."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors(value))


def lazy(value: Any) -> str:
    """Why an output may not be computed yet; empty when all are plain, stored tensors in containers that hold them."""
    if way := own_way(value):
        return f"it holds {way}, which may compute what it is asked for: return {STRUCTURES}"
    for index, leaf in enumerate(leaves(value)):
        if isinstance(leaf, torch.Tensor):
            if not _is_one(type(leaf), _TENSORS):
                return f"output {index} is a {type(leaf).__name__}"
            own = [name for name, held in dict.items(leaf.__dict__) if type(name) is not str or not _is_data(held)]
            # Programs note on their parameters what they like, but for what a tensor is asked.
            if own and (type(leaf) is _PLAIN or any(type(name) is not str or hasattr(_PLAIN, name) for name in own)):
                return f"output {index} carries attributes of its own: {', '.join(map(str, own))}"
            if leaf.is_neg() or leaf.is_conj():  # its memory holds something else
                return f"output {index} is not negated or conjugated yet"
            if leaf.layout != _STRIDED or (leaf.numel() and _IS_STORED(leaf).nbytes() == 0):
                return f"output {index} has no memory"
    return ""


def own_way(value: Any) -> str:
    """What in a result may compute its parts when it is asked for them, after the clock has stopped; empty where all hold them.
    Nothing of theirs is run for it: no attribute is asked for, nothing is hashed or compared that may have its own way to."""
    kind = type(value)
    bases = mro_of(kind)
    if _is_one(kind, _SCALARS) or _is_one(_PLAIN, bases):
        return ""
    tables = [table_of(base) for base in bases if not _is_one(base, _CONTAINERS)]
    told = _is_one(type(kind), (type, ABCMeta)) and all(type(name) is str for table in tables for name in table)
    by_place, is_dict = _is_one(list, bases) or _is_one(tuple, bases), _is_one(dict, bases)
    declared = declared_in(kind) if told else {}
    if not told or not (by_place or is_dict or declared):
        return f"a {kind.__name__}"
    asked = _ALWAYS | (_ROWS if by_place else _ROWS | _BY_KEY if is_dict else {"__getattr__"})
    for table in tables:
        for name, said in table.items():
            holds = type(said) is MemberDescriptorType or _is_one(type(said), _TENSORS) or _is_data(said)
            hides = name == "__dict__" and type(said) is not GetSetDescriptorType
            if name in asked or hides or (name in declared and not holds):
                return f"{kind.__name__}.{name}"
    for name, held in dict.items(_attributes_of(value)):
        if type(name) is not str or (name in asked and not _is_one(type(held), _TENSORS) and not _is_data(held)):
            return f"{kind.__name__}.{name}"
    if is_dict and (odd := [key for key in dict.keys(value) if not _is_data(key)]):
        return f"a key that is a {type(odd[0]).__name__}"
    parts = value if by_place else (by_key(value) or {}).values()
    return next(filter(None, map(own_way, parts)), "")


def _attributes_of(value: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots
        return {}
    return found


def _is_one(kind: type, kinds: Iterable[type]) -> bool:
    """As `in`, which a class may answer itself."""
    return any(kind is one for one in kinds)


def _is_data(value: Any) -> bool:
    """Nothing that could work later: torch.compile notes on its results which of their sizes may vary."""
    if _is_one(type(value), (set, frozenset, tuple, list)):
        return all(map(_is_data, value))
    return _is_one(type(value), _SCALARS)


def detached(value: Any) -> Any:
    """The same structure, of tensors that no gradient goes through: what autograd keeps for a result lives as long as that."""
    held = iter(tensors(value))
    return rebuilt(form_of(value), lambda _: next(held).detach(), scalar_of)


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
