"""The parameters of a forward as text, and the expressions over them that hold its arguments."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from torch.utils import _pytree as pytree

from mtmc.wire.by_name import Names

Parameters = Mapping[str, inspect.Parameter]


def keyword_marked(parameters: Parameters) -> Iterator[inspect.Parameter | None]:
    """The parameters, None standing for the `*` before those that go by name only."""
    marked = False
    for parameter in parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not marked:
            yield None
        marked = marked or parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL)
        yield parameter


def parameter_text(parameter: inspect.Parameter | None) -> str:
    """`x`, `scale=2.0`, `*rest`; defaults without a literal form become None."""
    if parameter is None:
        return "*"
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.default is inspect.Parameter.empty:
        return stars + parameter.name
    return f"{parameter.name}={parameter.default!r}" if is_literal(parameter.default) else f"{parameter.name}=None"


def is_literal(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))


def unused_defaults(parameters: Parameters, given: list[str]) -> Iterator[tuple[str, Any]]:
    """Parameters that kept their default while tracing, so must keep it."""
    for parameter in parameters.values():
        if parameter.name not in given and parameter.default is not inspect.Parameter.empty:
            yield parameter.name, parameter.default if is_literal(parameter.default) else None


def star_checks(task: str, parameters: Parameters, count: int, by_name: Names) -> Iterator[str]:
    """The statements that refuse more or fewer arguments than `count` behind `*rest`, and other words in `**words`."""
    places = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters.values())
    for name, parameter in parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            what, here, wanted = f"how many *{name} there are", f"len({name})", max(0, count - len(by_name) - places)
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            words = sorted(word for word in by_name if word not in parameters)
            what, here, wanted = f"which **{name} there are", f"sorted({name})", words
        else:
            continue
        message = f'f"running {task}: {what} is fixed: got {{{here}}}, wanted {wanted}"'
        yield f"if {here} != {wanted}: raise ValueError({message})"


def check_line(task: str, expression: str, value: Any) -> str:
    """The statement that refuses another value of an argument that tracing has fixed."""
    if not is_literal(value):
        return ""
    differs = f"is not {value!r}" if value is None or isinstance(value, bool) else f"!= {value!r}"
    message = f'f"running {task}: {expression} is fixed: got {{{expression}!r}}, wanted {value!r}"'
    return f"if {expression} {differs}: raise ValueError({message})"


def length_checks(task: str, arguments: list[str], inputs: list[Any]) -> list[str]:
    """The statements that refuse lists and dicts of other lengths: what is in them is looked up by place or key."""
    found = []

    def look(expression: str, value: Any) -> None:
        if isinstance(value, (list, tuple, dict)):
            found.append(check_line(task, f"len({expression})", len(value)))
            for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                look(f"{expression}[{key!r}]", part)

    for expression, value in zip(arguments, inputs, strict=True):
        look(expression, value)
    return found


def argument_expressions(parameters: Parameters, count: int, by_name: Names) -> list[str]:
    """For each of `count` arguments the expression over forward's parameters that holds it: `x`, `rest[0]`, `words['mask']`."""
    names: list[str] = []
    placed = count - len(by_name)
    for parameter in parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(placed - len(names))]
            break
        names.append(parameter.name)
    words = next((p.name for p in parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD), "")
    return names[:placed] + [name if name in parameters else f"{words}[{name!r}]" for name in by_name]


def leaf_expressions(arguments: list[str], inputs: list[Any]) -> list[str]:
    """The same for each leaf of the inputs: `x`, `xs[0]`."""
    paths = [path for path, _ in pytree.tree_flatten_with_path(inputs)[0]]
    return [arguments[path[0].idx] + "".join(map(str, path[1:])) for path in paths]


def all_by_place(parameters: Parameters, count: int, by_name: Names) -> inspect.Signature:
    """The signature of a forward that takes all arguments by their places, each under a name like its own."""
    names = [re.sub(r"\W+", "_", text).strip("_") for text in argument_expressions(parameters, count, by_name)]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
