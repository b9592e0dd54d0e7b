"""What a guest may use; told to it and watched by the keeper."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What a guest may use. Memory is the sum over all its processes."""

    memory_bytes: int
    processes: int = 64
    threads: int = 512
    file_bytes: int = 4 << 30
    device: str = "cpu"
