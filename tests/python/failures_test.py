"""Reason words for what CUDA and Triton raise."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtmc.failures import classify


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
