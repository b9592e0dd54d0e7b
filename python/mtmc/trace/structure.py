"""What forward returns, as a Python expression."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mtmc.trace.constructor import Held
from mtmc.wire.outputs import STRUCTURES
from mtmc.wire.task_error import TaskError


@dataclass
class Parts:
    """What an object of a class that torch does not know was made of: `keys` are names of its fields, or, of a kind of dict, its
    keys; of a torch.Size there are none."""

    kind: type
    keys: tuple[Any, ...]
    values: list[Any]


pytree.register_pytree_node(
    Parts,
    lambda parts: (parts.values, (parts.kind, parts.keys)),
    lambda values, context: Parts(*context, list(values)),
)


def taken_apart(value: Any) -> Any:
    """A result of forward as torch can look into it, whatever its classes are registered for."""
    kind = type(value)
    if kind is torch.Size:
        return Parts(kind, (), list(value))
    if kind in (list, tuple):
        return kind(map(taken_apart, value))
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return kind(*map(taken_apart, value))
    if kind in (dict, OrderedDict):
        return kind((key, taken_apart(part)) for key, part in value.items())
    if isinstance(value, Mapping) and (is_dataclass(kind) or made_as_a_dict(kind)):
        return Parts(kind, tuple(value), [taken_apart(part) for part in value.values()])
    if is_dataclass(kind) and made_of_fields(kind):
        names = tuple(kind.__dataclass_fields__)
        return Parts(kind, names, [taken_apart(getattr(value, name)) for name in names])
    return value


def made_as_a_dict(kind: type) -> bool:
    return any((kind.__init__, kind.__new__) == (base.__init__, base.__new__) for base in (dict, OrderedDict))


def made_of_fields(kind: type) -> bool:
    """Does its constructor take all that it holds?"""
    return kind.__dataclass_params__.init and all(one.init for one in kind.__dataclass_fields__.values())


def structure(task: str, value: Any, held: Held) -> str:
    """Nested tuples, lists, dicts and Parts of texts as one Python expression. The classes of named tuples and of Parts are
    `held`."""
    if isinstance(value, str):
        return value
    kind = type(value)
    if kind is Parts:
        texts = [structure(task, part, held) for part in value.values]
        if value.kind is torch.Size:
            return f"torch.Size([{', '.join(texts)}])"
        name = name_of_class(value.kind, held)
        if is_dataclass(value.kind):
            return f"self.{name}({', '.join(f'{key}={text}' for key, text in zip(value.keys, texts, strict=True))})"
        return f"self.{name}({{{', '.join(f'{key!r}: {text}' for key, text in zip(value.keys, texts, strict=True))}}})"
    if kind in (dict, OrderedDict):
        items = ", ".join(f"{key!r}: {structure(task, item, held)}" for key, item in value.items())
        return f"{{{items}}}" if kind is dict else f'__import__("collections").OrderedDict({{{items}}})'
    if isinstance(value, (tuple, list)):
        items = ", ".join(structure(task, item, held) for item in value)
        comma = "," if len(value) == 1 else ""
        if kind is list:
            return f"[{items}]"
        if kind is tuple:
            return f"({items}{comma})"
        if kind.__module__ == "torch.return_types":
            return f"torch.return_types.{kind.__name__}(({items},))"
        if hasattr(kind, "_fields"):
            return f"self.{name_of_class(kind, held)}({items})"
    raise TaskError(f"tracing {task}", "forward returns another structure", kind.__name__, STRUCTURES)


def name_of_class(kind: type, held: Held) -> str:
    """The attribute of ModelNew that holds a result's class."""
    name = f"_{kind.__name__}"
    while held.setdefault(name, kind) is not kind:
        name += "_"
    return name
