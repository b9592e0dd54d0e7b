"""Which reason word an exception of the candidate's stands for."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

COMPILERS = re.compile(r"(^|[/\s'\"])(g\+\+|gcc|c\+\+|cc|clang(\+\+)?|nvcc|ninja|hipcc)(-[\d.]+)?($|[\s'\"])")
# What compilers, linkers and loaders of kernels print. A sentence of the file's own may hold `error:`, too.
COMPILER_ERROR = re.compile(
    r"(\.(?!py\b)\w+|>):\d+(:\d+)?: (fatal )?error:|"  # kernel.cpp:3:5: error:
    r"(\.\w+|_program)\(\d+\): (catastrophic )?error\b|"  # kernel.cu(3): error:
    r"\b(g\+\+|gcc|c\+\+|cc1(plus)?|collect2|clang(\+\+)?|ld(\.\w+)?)(-[\d.]+)?: (fatal )?error:|undefined reference to|"
    r"nvcc (fatal|error)|ptxas\b.*(?i:error|fatal|too much|exceed)|error C\d{4}\b|NVRTC_ERROR_COMPILATION|"
    r"PTX JIT compilation failed|CUDA_ERROR_INVALID_PTX|"
    r"PassManager::run failed|out of resource: |too many resources requested for launch"  # Triton, the driver
)
# What torch says of an extension, before the compiler's own words.
BUILD_FAILED = re.compile(r"Error (building|compiling objects for) extension")
BUILDS = ("compiling the kernels of ", "Kernel compilation failed:")  # modules that we print, torch's NVRTC
TRITON_ERRORS = {"CompilationError", "OutOfResources", "PTXASError"}  # and what derives from them
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
    started = any(
        COMPILERS.search(str(getattr(link, "cmd", ""))) or str(link).startswith(BUILDS) or _is_tritons(link)
        for link in chain
    )
    built = BUILD_FAILED.search(text)
    if not isinstance(error, SyntaxError) and (started or built or COMPILER_ERROR.search(text)):
        lines = [line.strip() for line in text.splitlines() if COMPILER_ERROR.search(line)]
        if built and not lines:  # a tool that failed before the compiler spoke: it says so last
            lines = [line.strip() for line in text.splitlines() if line.strip()][-3:]
        return "compile-error", "; ".join(lines[:3])[:600] or _first(error, file)
    return otherwise, _first(error, file)


def _is_tritons(error: BaseException) -> bool:
    """Did Triton refuse a kernel?"""
    return any(cls.__name__ in TRITON_ERRORS and cls.__module__.startswith("triton.") for cls in type(error).__mro__)


def _output_of(error: BaseException) -> str:
    """What a failed command printed, where the exception carries it."""
    parts = [getattr(error, "stderr", None), getattr(error, "stdout", None)]
    return "\n".join(part.decode(errors="replace") if isinstance(part, bytes) else str(part) for part in parts if part)


def _first(error: BaseException, file: Path) -> str:
    lines = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0] if lines else ''}"[:400]
    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{text} (line {places[-1]})" if places else text
