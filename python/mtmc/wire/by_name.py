"""Arguments that a forward takes by their names only: the last ones of a list, whose names go beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Names = Sequence[str]  # of the last arguments


def split(arguments: Sequence[Any], names: Names) -> tuple[list[Any], dict[str, Any]]:
    """What a call takes by its place and by its name."""
    first = len(arguments) - len(names)
    return list(arguments[:first]), dict(zip(names, arguments[first:], strict=True))


def by_place(call: Callable[..., Any], names: Names) -> Callable[..., Any]:
    """The call as one that takes all of them by their places; where nothing has a name, itself."""
    if not names:
        return call

    def placed(*arguments: Any) -> Any:
        first, named = split(arguments, names)
        return call(*first, **named)

    return placed
