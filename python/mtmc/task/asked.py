"""Which packages the user's code asks for while it is loaded and run: libraries try optional ones, installed or not. What
the task asks for is no doing of a candidate that carries its imports along.

What is installed of it the zygote imports, too: a library of models takes seconds, and its candidates build the same modules."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

INSTALLED = {"site-packages", "dist-packages"}  # folders
STDLIB = sysconfig.get_path("stdlib")


def imported_by(namespace: ModuleType) -> list[str]:
    """Modules of installed packages, torch aside, whose classes, functions or selves the user's modules name: this one and those
    that it imports."""
    found, seen, left = set(), {namespace.__name__}, [namespace]
    while left:
        for value in vars(left.pop()).values():
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if not isinstance(name, str) or name in seen:
                continue
            seen.add(name)
            module = sys.modules.get(name)
            origin = getattr(getattr(module, "__spec__", None), "origin", None)
            if module is None or not origin:
                continue
            if not INSTALLED.isdisjoint(Path(origin).parts):
                if name.partition(".")[0] != "torch":
                    found.add(name)
            elif Path(origin).is_absolute() and not origin.startswith(STDLIB):
                left.append(module)
    return sorted(found)


class Asked:
    """Notes the first word of every module that Python looks for from now on."""

    def __init__(self) -> None:
        self.packages: set[str] = set()
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Asked by Python's import for every module that is not loaded yet; finds none."""
        self.packages.add(name.partition(".")[0])
