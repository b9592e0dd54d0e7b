"""Which packages the user's code asks for while it is loaded and run: libraries try optional ones, installed or not. What
the task asks for is no doing of a candidate that carries its imports along."""

from __future__ import annotations

import sys
from typing import Any


class Asked:
    """Notes the first word of every module that Python looks for from now on."""

    def __init__(self) -> None:
        self.packages: set[str] = set()
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Asked by Python's import for every module that is not loaded yet; finds none."""
        self.packages.add(name.partition(".")[0])
