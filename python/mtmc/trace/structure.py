"""What forward returns, as a Python expression."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from mtmc.trace.constructor import Held
from mtmc.wire.task_error import TaskError

STRUCTURES = "tensors in tuples, named tuples, lists, dicts and ModelOutputs"


def structure(task: str, value: Any, held: Held) -> str:
    """Nested tuples, lists and dicts of texts as one Python expression. The classes of named tuples, and of mappings that are
    dataclasses (a ModelOutput), are `held`."""
    if isinstance(value, str):
        return value
    kind = type(value)
    if kind in (dict, OrderedDict):
        items = ", ".join(f"{key!r}: {structure(task, item, held)}" for key, item in value.items())
        return f"{{{items}}}" if kind is dict else f'__import__("collections").OrderedDict({{{items}}})'
    if isinstance(value, Mapping) and is_dataclass(kind):
        items = ", ".join(f"{key}={structure(task, item, held)}" for key, item in value.items())
        return f"self.{name_of_class(kind, held)}({items})"
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
