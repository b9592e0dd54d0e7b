"""What runs when a task is searched, beside the compiled program: Python, this package's files, torch, Triton and numpy. Run as a
program it prints a hash of them, without importing torch."""

from __future__ import annotations

import hashlib
import sys
from importlib import metadata
from pathlib import Path


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def identity() -> str:
    found = hashlib.sha256(sys.version.encode())
    root = Path(__file__).resolve().parents[1]
    for path in sorted(root.rglob("*.py")):
        found.update(f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    for package in ("torch", "triton", "numpy"):
        found.update(f"{package} {version_of(package)}\n".encode())
    return found.hexdigest()


if __name__ == "__main__":
    print(identity())
