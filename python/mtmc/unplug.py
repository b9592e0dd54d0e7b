"""Finds the kernels that a candidate brought along and turns them into functions that do nothing.

Native code: every instruction of the libraries that it built or wrote becomes a return. Triton: launches do nothing.
"""

from __future__ import annotations

import ast
import ctypes
import mmap
import platform
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

CLAIMS = re.compile(r"@triton\.jit|extern\s+\"C\"|__global__|load_inline|cpp_extension|CDLL\s*\((?!\s*None)")
RETURN = {"x86_64": b"\xc3", "aarch64": b"\xc0\x03\x5f\xd6"}
READ_WRITE_EXECUTE = 7


class Plug(Protocol):
    def pull(self) -> None:
        """From now on the kernel does nothing."""


@dataclass(frozen=True)
class NativeCode:
    """A range of mapped machine code."""

    start: int
    size: int

    def pull(self) -> None:
        page = mmap.PAGESIZE
        first = self.start // page * page
        length = (self.start + self.size - first + page - 1) // page * page
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(first), ctypes.c_size_t(length), READ_WRITE_EXECUTE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        nothing = RETURN[platform.machine()]
        ctypes.memmove(self.start, nothing * (self.size // len(nothing)), self.size // len(nothing) * len(nothing))


class TritonLaunches:
    def pull(self) -> None:
        from triton.runtime import interpreter, jit

        for cls in (jit.JITFunction, interpreter.InterpretedFunction, interpreter.GridExecutor):
            name = "__call__" if cls is interpreter.GridExecutor else "run"
            setattr(cls, name, lambda *_, **__: None)
        driver = sys.modules.get("triton.backends.nvidia.driver")
        if driver is not None:  # kernels that were compiled before, and are launched without JITFunction
            driver.CudaLauncher.__call__ = lambda *_, **__: None


def own_kernels(folders: list[str]) -> list[Plug]:
    """The plugs of all libraries mapped from these folders (or from memory only), and of Triton where it was imported."""
    plugs: list[Plug] = []
    for path, base in _mapped_libraries().items():
        if path.startswith("/memfd:") or any(path.startswith(folder) for folder in folders):
            plugs += _text_of(path.removesuffix(" (deleted)"), base)
    if "triton.runtime.jit" in sys.modules and _defines_triton(sys.modules.get("candidate")):
        plugs.append(TritonLaunches())
    return plugs


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


def _defines_triton(module: Any) -> bool:
    return module is not None and any(
        type(value).__name__ in ("JITFunction", "InterpretedFunction", "Autotuner", "Heuristics")
        for value in vars(module).values()
    )


def _mapped_libraries() -> dict[str, int]:
    """Path and load address of everything mapped executable from a file."""
    lowest: dict[str, int] = {}
    executable: set[str] = set()
    for line in Path("/proc/self/maps").read_text().splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6:
            start = int(fields[0].split("-")[0], 16) - int(fields[2], 16)
            lowest[fields[5]] = min(start, lowest.get(fields[5], start))
            if "x" in fields[1]:
                executable.add(fields[5])
    return {path: lowest[path] for path in executable}


def _text_of(path: str, base: int) -> list[Plug]:
    """The .text section of a mapped ELF64 file (its sections are found by name, as `readelf -S` does)."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return []
    if data[:5] != b"\x7fELF\x02":
        return []
    table, size, count, names_at = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HHH", data, 58))
    sections = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
    names = sections[names_at][4]
    return [
        NativeCode(base + address, length)
        for name, _, _, address, _, length in sections
        if data[names + name : names + name + 6] == b".text\0"
    ]
