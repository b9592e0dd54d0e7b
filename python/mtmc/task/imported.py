"""A user's file as a module, and as another one where importing it drew random numbers."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mtmc.device.memory import is_full
from mtmc.device.random_state import other_random_states, random_state, seed_all, seed_others
from mtmc.wire.task_error import TaskError, first_cause, first_line

FROM_FILE = "mtmc_file_"  # begins the names of modules that are imported from a user's file
AGAIN = "_again"  # ends the name of that other module
OTHER = 0xA6A1  # the seed before it, which nobody else has
drew: set[str] = set()  # the names of those that drew random numbers meanwhile


def import_file(path: Path, doing: str) -> ModuleType:
    """Imports a Python file under a name made from its path, with its folder on the module search path."""
    if not path.is_file():
        raise TaskError(doing, "no such file", str(path), "a Python file")
    name = f"{FROM_FILE}{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    if b"numpy" in path.read_bytes() and importlib.util.find_spec("numpy"):
        importlib.import_module("numpy.random")  # which has a state from then on
    before = states()
    module = executed(path, name, doing)
    if module is None:
        raise TaskError(doing, "not a Python file", str(path), "a file that ends in .py")
    if states() != before:
        drew.add(name)
    return module


def imported_again(module: ModuleType) -> ModuleType:
    """Another module of a user's file that drew random numbers while it was imported: what it drew without a seed of its own is
    otherwise there. The same one where it drew none, or cannot be imported twice. Whoever draws next seeds, too."""
    name = module.__name__ + AGAIN
    if module.__name__ not in drew or not module.__file__:
        return module
    seed_all(OTHER)
    seed_others(OTHER)
    try:
        return sys.modules.get(name) or executed(Path(module.__file__), name, "importing it again") or module
    except TaskError as error:  # in an import that nobody else asks for
        if is_full(first_cause(error)):
            raise
        return module


def executed(path: Path, name: str, doing: str) -> ModuleType | None:
    """The file as a module of that name; None where it is no Python file, TaskError where its code raises."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise TaskError(doing, f"{path.name} does not import", first_line(first_cause(error))) from error
    return module


def states() -> list[Any]:
    """Of all generators of random numbers."""
    return [bytes(random_state().tolist()), other_random_states()]
