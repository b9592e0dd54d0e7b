"""The constructor's arguments on their way to a candidate, which may not read the file that defines their classes.

An object of such a class becomes one of the candidate's own class of that name, else of a stand-in that holds the same
attributes and has no methods.
"""

from __future__ import annotations

import importlib
import io
import pickle
from types import ModuleType
from typing import Any

Arguments = tuple[list[Any], dict[str, Any]]


class _Loader(pickle.Unpickler):
    def __init__(self, data: bytes, hidden: str, candidate: ModuleType | None) -> None:
        super().__init__(io.BytesIO(data))
        self.hidden, self.candidate = hidden, candidate
        self.found: list[str] = []  # names of the hidden module's classes

    def find_class(self, module: str, name: str) -> Any:
        if module != self.hidden:
            try:
                importlib.import_module(module)
            except ImportError:
                return self._stand_in(name)  # a neighbour of the user's file
            return super().find_class(module, name)
        self.found.append(name)
        return self._stand_in(name)

    def _stand_in(self, name: str) -> type:
        own = getattr(self.candidate, name, None)
        return own if isinstance(own, type) else type(name, (), {})


def load_arguments(data: bytes, hidden: str, candidate: ModuleType | None) -> Arguments:
    """`hidden`: the module of the user's file. Any exception means that a class needs more than attributes."""
    return _Loader(data, hidden, candidate).load()


def classes_of(data: bytes, hidden: str) -> list[str]:
    """Which classes of the user's file the arguments need."""
    loader = _Loader(data, hidden, None)
    loader.load()
    return loader.found
