"""Structures of tensors and scalars in lists, tuples and mappings: their leaves in order, what they look like, and the same ones
elsewhere.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import torch

# A class's bases and what it defines, as no metaclass can answer.
mro_of, table_of = (type.__dict__[name].__get__ for name in ("__mro__", "__dict__"))
SMALL = 1 << 15  # elements; what is measured of as many takes a GPU's driver longer than the host


def bytes_of(tensor: torch.Tensor) -> memoryview:
    """The memory of a contiguous CPU tensor, which the caller must keep."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())) if size else memoryview(b"")


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """Detached, contiguous, without lazy conjugation or negation, where it is."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous()


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """As `plain`, on the host."""
    return plain(tensor).cpu()


def moved(value: Any, where: torch.device) -> Any:
    """A structure with all its tensors on a device. Tuples stay tuples: forward may ask."""
    if isinstance(value, torch.Tensor):
        return value.to(where)
    if isinstance(value, Mapping):
        return {key: moved(part, where) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [moved(part, where) for part in value]
        return parts if isinstance(value, list) else value._make(parts) if hasattr(value, "_make") else tuple(parts)
    return value


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The memory of all elements in order, as a row of the widest integers that divide an element (complex128: two)."""
    flat = plain(tensor).reshape(-1)  # a lazy conjugate has no bits of its own
    return flat.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}.get(tensor.element_size(), torch.int64))


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(bits(one), bits(other))


def together(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """The same tensors on the host, brought there by one copy: of a hundred small ones each would wait for the GPU."""
    order = sorted(range(len(tensors)), key=lambda i: -tensors[i].element_size())  # so that each is aligned
    rows = [plain(tensors[i]).reshape(-1).view(torch.uint8) for i in order]
    if not rows:
        return []
    parts = dict(zip(order, torch.cat(rows).cpu().split([row.numel() for row in rows]), strict=True))
    return [parts[i].view(tensor.dtype).view(tensor.shape) for i, tensor in enumerate(tensors)]


def on_host(values: list[Any]) -> list[Any]:
    """Small tensors of a GPU on the host, all else as it is: many looks at a small tensor cost less there."""
    found = list(values)
    small = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor) and v.is_cuda and v.numel() <= SMALL]
    for i, value in zip(small, together([values[i] for i in small]), strict=True):
        found[i] = value
    return found


class Fields(dict[str, Any]):
    """The parts of an object that are its attributes."""


def by_key(value: Any) -> Mapping[Any, Any] | None:
    """The parts of a mapping, or of a dataclass (Fields), by their keys; None of all else. A dict is not asked: it is read."""
    if isinstance(value, dict):
        ordered = isinstance(value, OrderedDict)
        return value if type(value) is Fields else dict(OrderedDict.items(value) if ordered else dict.items(value))
    if isinstance(value, (list, tuple)):
        return None
    if declared := declared_in(type(value)):
        return Fields({name: getattr(value, name) for name in declared})
    return value if isinstance(value, Mapping) else None


def said_by(kind: type, name: str) -> Any:
    """What a class or a base of it has under a name, whatever the class would answer itself."""
    return next((table[name] for table in map(table_of, mro_of(kind)) if name in table), None)


def declared_in(kind: type) -> dict[str, Any]:
    """The fields of a class that is a dataclass, by name."""
    fields = said_by(kind, "__dataclass_fields__")
    return fields if type(fields) is dict and all(type(name) is str for name in fields) else {}


def leaves(value: Any) -> list[Any]:
    """Tensors and scalars of a structure of lists, tuples, mappings and dataclasses, in order."""
    if isinstance(value, (torch.Tensor, float, int)):
        return [value]
    if (parts := by_key(value)) is not None:
        return [leaf for part in parts.values() for leaf in leaves(part)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


class Named(tuple):
    """A tuple whose parts have names, as it came from another process."""

    names: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name in self.names:
            return self[self.names.index(name)]
        raise AttributeError(name)


def named(parts: list[Any], names: list[str]) -> Named:
    found = Named(parts)
    found.names = tuple(names)
    return found


def names_of(value: Any) -> tuple[str, ...]:
    """Of the parts of a named tuple, those of torch.return_types included; of anything else none."""
    if not isinstance(value, tuple):
        return ()
    names = value.names if type(value) is Named else said_by(type(value), "__match_args__")
    return names if type(names) is tuple and len(names) == len(value) and all(type(n) is str for n in names) else ()


def structure_of(value: Any) -> str:
    """`[tensor, {a: tensor}]`, `[values=tensor, indices=tensor]`: lists and tuples are alike, but for the names of parts; of a
    dataclass, whose parts are attributes, `{.a: tensor}`."""
    if (parts := by_key(value)) is not None:
        dot = "." if isinstance(parts, Fields) else ""
        return "{" + ", ".join(f"{dot}{key}: {structure_of(part)}" for key, part in parts.items()) + "}"
    if isinstance(value, (list, tuple)):
        parts = [structure_of(part) for part in value]
        names = names_of(value)
        return "[" + ", ".join(map("=".join, zip(names, parts, strict=True)) if names else parts) + "]"
    return "tensor" if isinstance(value, torch.Tensor) else type(value).__name__


def identical(one: Any, other: Any) -> bool:
    """Bit for bit, in all tensors and scalars?"""

    def same(a: Any, b: Any) -> bool:
        if not isinstance(a, torch.Tensor):
            return repr(a) == repr(b)
        return (a.dtype, a.shape) == (b.dtype, b.shape) and same_bits(a, b)

    return structure_of(one) == structure_of(other) and all(map(same, leaves(one), leaves(other)))
