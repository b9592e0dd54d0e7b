"""Which reason word an exception of the candidate's stands for."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

COMPILERS = re.compile(r"(^|[/\s'\"])(g\+\+|gcc|c\+\+|cc|clang(\+\+)?|nvcc|ninja|hipcc)(-[\d.]+)?($|[\s'\"])")
COMPILER_ERROR = re.compile(
    r"((?<!CUDA )error:|error C\d+|undefined reference|CompilationError|Error building extension|ptxas|out of resource|"
    r"too many resources requested for launch)"
)
# What CUDA says of a kernel that failed; nothing works in the process afterwards.
ILLEGAL_ACCESS = re.compile(
    r"illegal memory access|misaligned address|illegal address|invalid program counter|illegal instruction|"
    r"unspecified launch failure|CUDA_ERROR_ILLEGAL_ADDRESS|hardware stack error"
)
DEVICE_ASSERT = re.compile(r"device-side assert")
TOO_LONG = re.compile(r"launch timed out")
NO_PROCESS = re.compile(r"can't start new thread|Resource temporarily unavailable")
NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|out of memory|Cannot allocate memory|bad_alloc", re.I)


def classify(error: BaseException, otherwise: str, file: Path) -> tuple[str, str]:
    """`(reason, message)`: what the exception says, and the line of the candidate it came from."""
    chain, link = [], error
    while link is not None and len(chain) < 10:
        chain.append(link)
        link = link.__cause__ or link.__context__
    text = "\n".join(f"{type(link).__name__}: {link}\n{_output_of(link)}" for link in chain)
    if isinstance(error, MemoryError) or NO_MEMORY.search(text):
        return "out-of-memory", _first(error, file)
    for pattern, reason in (
        (ILLEGAL_ACCESS, "illegal-access"),
        (DEVICE_ASSERT, "device-assert"),
        (TOO_LONG, "timed-out"),
    ):
        if pattern.search(text):
            return reason, _first(error, file)
    if NO_PROCESS.search(text):
        return "too-many-processes", _first(error, file)
    started = any(COMPILERS.search(str(getattr(link, "cmd", ""))) for link in chain)
    if not isinstance(error, SyntaxError) and (started or COMPILER_ERROR.search(text)):
        lines = [line.strip() for line in text.splitlines() if COMPILER_ERROR.search(line)]
        return "compile-error", "; ".join(lines[:3])[:600] or _first(error, file)
    return otherwise, _first(error, file)


def _output_of(error: BaseException) -> str:
    """What a failed command printed, where the exception carries it."""
    parts = [getattr(error, "stderr", None), getattr(error, "stdout", None)]
    return "\n".join(part.decode(errors="replace") if isinstance(part, bytes) else str(part) for part in parts if part)


def _first(error: BaseException, file: Path) -> str:
    lines = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0] if lines else ''}"[:400]
    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{text} (line {places[-1]})" if places else text
