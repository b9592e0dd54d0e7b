"""What this Python offers, as one JSON object on standard output: versions, CUDA devices, Triton. For `mtmc doctor`."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from typing import Any

from mtmc.wire.task_error import first_line


def version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def findings() -> dict[str, Any]:
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "numpy": version_of("numpy"),
        "triton": version_of("triton"),
        "torch": version_of("torch"),
        "torch_error": None,
        "threads": None,
        "cuda": None,
        "devices": [],
    }
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a shared library that does not load
        found["torch_error"] = first_line(error)
        return found
    found["threads"] = torch.get_num_threads()
    found["cuda"] = torch.version.cuda
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            facts = torch.cuda.get_device_properties(index)
            found["devices"].append(
                f"{facts.name}, {facts.total_memory / 2**30:.0f} GiB, sm_{facts.major}{facts.minor}"
            )
    return found


if __name__ == "__main__":
    print(json.dumps(findings()))
