"""Which kernels a file defines, and launches that do nothing: Triton's, and those of CUDA C++ through the driver. Native code is
unplugged from outside: reach.py.
"""

from __future__ import annotations

import ast
import ctypes
import re
import sys
from typing import Any

CLAIMS = re.compile(r"@triton\.jit|extern\s+\"C\"|__global__|load_inline|cpp_extension|CDLL\s*\((?!\s*None)")

DEFINED = re.compile(r"__global__\s+(?:void\s+|__launch_bounds__\s*\([^)]*\)\s*)*(\w+)")
LAUNCHES = frozenset({"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel"})


class TritonLaunches:
    def pull(self) -> None:
        from triton.runtime import interpreter, jit

        for cls in (jit.JITFunction, interpreter.InterpretedFunction, interpreter.GridExecutor):
            name = "__call__" if cls is interpreter.GridExecutor else "run"
            setattr(cls, name, lambda *_, **__: None)
        driver = sys.modules.get("triton.backends.nvidia.driver")
        if driver is not None:  # kernels that were compiled before, and are launched without JITFunction
            driver.CudaLauncher.__call__ = lambda *_, **__: None


class DriverLaunches:
    """What a file launches through ctypes; torch's own libraries do not ask there. A function that the file has bound before
    stays plugged in."""

    def __init__(self) -> None:
        self.met = 0

    def pull(self) -> None:
        real = ctypes.CDLL.__getitem__

        def nothing(*_: Any) -> int:
            self.met += 1
            return 0

        def item(library: ctypes.CDLL, name: Any) -> Any:
            return nothing if name in LAUNCHES else real(library, name)

        ctypes.CDLL.__getitem__ = item  # type: ignore[method-assign]


def claims_kernels(source: str) -> bool:
    """Does the code, its strings included, define kernels of its own? Comments and docstrings may talk about kernels."""
    return CLAIMS.search(_code_of(source)) is not None


def cuda_names(source: str) -> set[str]:
    """The kernels that are defined in CUDA C++."""
    return set(DEFINED.findall(_code_of(source)))


def _code_of(source: str) -> str:
    try:
        tree = ast.parse(source)
        _drop_docstrings(tree)
        # Strings also as they are: in printed code the quotes and line ends in them may be escaped.
        strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is str]
        return "\n".join([ast.unparse(tree), *strings])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source  # no text that can be parsed: it counts as it is


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
