"""Reason words for what CUDA, Triton and compilers raise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mtmc.guest.failures import classify


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CUDA error: an illegal memory access was encountered (700)", "illegal-access"),
        ("CUDA error: misaligned address", "illegal-access"),
        ("CUDA error: unspecified launch failure", "illegal-access"),
        ("CUDA error: device-side assert triggered (710)", "device-assert"),
        ("CUDA error: the launch timed out and was terminated", "timed-out"),
        ("CUDA out of memory. Tried to allocate 4.00 GiB.", "out-of-memory"),
        ("out of resource: shared memory, Required: 300000, Hardware limit: 232448", "compile-error"),
        ("CUDA error: invalid configuration argument", "raised"),
    ],
)
def test_errors_of_the_gpu_have_their_own_reasons(text: str, reason: str) -> None:
    assert classify(RuntimeError(text), "raised", Path("kernel.py"))[0] == reason


@pytest.mark.parametrize(
    "text",
    [
        "compiling the kernels of relu with g++:\nsomething else failed",
        "build failed\n/tmp/a/kernel.cpp:41:7: error: 'acc' was not declared in this scope",
        "<stdin>:1:10: fatal error: omp.h: No such file or directory",
        'kernel.cu(12): error: identifier "x" is undefined',
        "Kernel compilation failed:\ndefault_program(3): error: expected a ;",
        "collect2: error: ld returned 1 exit status",
        "kernel.o: undefined reference to `omp_get_thread_num'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_20'",
        "ptxas error   : Entry function 'f' uses too much shared data",
        "Error building extension 'relu'",
        "Error compiling objects for extension",
        "PassManager::run failed",
    ],
)
def test_what_compilers_print(text: str) -> None:
    assert classify(RuntimeError(text), "raised", Path("kernel.py"))[0] == "compile-error"


def test_of_a_failed_extension_the_cause_is_told_and_not_the_command() -> None:
    begun = "Error building extension 'x': [1/2] ccache c++ -c main.cpp\nFAILED: main.o\n"
    for cause in ("main.cpp:3:5: error: expected ';'", "ccache: error: Read-only file system"):
        said = classify(RuntimeError(begun + cause + "\nninja: build stopped"), "raised", Path("kernel.py"))
        assert said[0] == "compile-error" and cause in said[1] and "[1/2]" not in said[1]


def test_what_stops_a_compiler() -> None:
    with pytest.raises(RuntimeError) as caught:
        try:
            raise subprocess.CalledProcessError(1, ["ninja", "-v"], output=b"error")
        except subprocess.CalledProcessError as error:
            raise RuntimeError("it does not build") from error
    assert classify(caught.value, "import-error", Path("kernel.py"))[0] == "compile-error"
    tritons = type("UnsupportedLanguageConstruct", (type("CompilationError", (Exception,), {}),), {})
    tritons.__mro__[1].__module__ = "triton.compiler.errors"
    assert classify(tritons("at 3:4:"), "raised", Path("kernel.py"))[0] == "compile-error"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("shape error: this kernel takes 256 columns, not 257"),
        ValueError("kernel.py:12: error: this kernel takes 256 columns, not 257"),
        RuntimeError("CUDA error: invalid device function"),
        subprocess.CalledProcessError(1, ["nvidia-smi"], stderr=b"error: no device"),
        type("CompilationError", (Exception,), {})("it is the file's own"),
    ],
)
def test_sentences_that_say_error_come_from_no_compiler(error: Exception) -> None:
    assert classify(error, "raised", Path("kernel.py"))[0] == "raised"
