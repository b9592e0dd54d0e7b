"""Which kernels a file defines, and launches of Triton's that do nothing. Native code is unplugged from outside: reach.py."""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

CLAIMS = re.compile(r"@triton\.jit|extern\s+\"C\"|__global__|load_inline|cpp_extension|CDLL\s*\((?!\s*None)")


class TritonLaunches:
    def pull(self) -> None:
        from triton.runtime import interpreter, jit

        for cls in (jit.JITFunction, interpreter.InterpretedFunction, interpreter.GridExecutor):
            name = "__call__" if cls is interpreter.GridExecutor else "run"
            setattr(cls, name, lambda *_, **__: None)
        driver = sys.modules.get("triton.backends.nvidia.driver")
        if driver is not None:  # kernels that were compiled before, and are launched without JITFunction
            driver.CudaLauncher.__call__ = lambda *_, **__: None


def claims_kernels(source: str) -> bool:
    """Does the code, its strings included, define kernels of its own? Comments and docstrings may talk about kernels."""
    try:
        tree = ast.parse(source)
        _drop_docstrings(tree)
        # Strings also as they are: in printed code the quotes and line ends in them may be escaped.
        strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is str]
        source = "\n".join([ast.unparse(tree), *strings])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass  # no text that can be parsed: it counts as it is
    return CLAIMS.search(source) is not None


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        owns = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if owns and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.Pass()


def triton_names(module: Any) -> set[str]:
    """The names under which the module's Triton kernels are launched."""
    names = set()
    for value in vars(module).values() if module is not None else ():
        while type(value).__name__ in ("Autotuner", "Heuristics"):
            value = value.fn
        if type(value).__name__ == "JITFunction":
            names.add(value.fn.__name__)
    return names
