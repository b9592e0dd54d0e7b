"""Times versions of one kernel against each other, for micro coding. It is not the judge: it checks no answer, isolates
nothing, and its times are used only to order versions.

Requests on the private pipe: {"modules": [path, ...], "inputs": ["f32[64,512]", ...], "seconds": 3.0}. The reply has one
result per module, {"ms": median} or {"note": why there is none}.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from mtmc.input_spec import parse_input

HOPELESS = 3.0  # times the best so far: not timed any further
SHORTEST = 0.002  # seconds: a sample repeats the call until it takes at least this long
SAMPLES = 9  # of each version that is not hopeless, when time allows

Call = Callable[[], Any]


def load(path: str) -> ModuleType:
    """Imports a kernel file, which builds its kernels."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def try_load(path: str) -> ModuleType | Exception:
    try:
        return load(path)
    except Exception as error:  # whatever a version raises is its answer
        return error


def random_tensor(type_text: str) -> torch.Tensor:
    """Floats are normal, integers 0 or 1 so that they are valid as any index, booleans even odds."""
    return replace(parse_input(type_text.replace("b1[", "bool[")), bound=2).draw()


class Version:
    """One version: its call, its samples in seconds, and why it is out."""

    def __init__(self, loaded: ModuleType | Exception, inputs: list[torch.Tensor]) -> None:
        self.samples: list[float] = []
        self.note = ""
        self.repeats = 1
        self.call: Call | None = None
        if isinstance(loaded, Exception):
            self.note = f"{type(loaded).__name__}: {str(loaded)[:300]}"
            return
        try:
            model = loaded.ModelNew()
            self.call = lambda: model(*inputs)
            self.call()
            once = self._time(1)
        except Exception as error:  # so is what its first call raises
            self.note = f"{type(error).__name__}: {str(error)[:300]}"
            self.call = None
            return
        self.repeats = max(1, int(SHORTEST / max(once, 1e-7)))
        self.samples = [once]

    def _time(self, repeats: int) -> float:
        assert self.call is not None
        start = time.perf_counter()
        for _ in range(repeats):
            self.call()
        return (time.perf_counter() - start) / repeats

    def sample(self) -> None:
        self.samples.append(self._time(self.repeats))

    @property
    def best(self) -> float:
        return min(self.samples)

    def result(self) -> dict[str, Any]:
        if self.call is None or not self.samples:
            return {"note": self.note}
        if self.note:
            return {"note": self.note}
        return {"ms": statistics.median(self.samples[1:] or self.samples) * 1e3}


def measure(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Builds all versions in parallel, then times them in interleaved rounds until the time is up."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        loaded = list(pool.map(try_load, request["modules"]))
    torch.manual_seed(0)
    inputs = [random_tensor(text) for text in request["inputs"]]
    deadline = time.perf_counter() + request["seconds"]
    versions = []
    with torch.no_grad():
        for one in loaded:
            versions.append(Version(one, inputs))
        running = [version for version in versions if version.call is not None]
        for _ in range(SAMPLES):
            if len(running) < 2 or time.perf_counter() > deadline:
                break
            for version in running:
                version.sample()
            best = min(version.best for version in running)
            for version in running:
                if version.best > HOPELESS * best:
                    version.note = f"hopeless: {version.best / best:.1f} times the best"
            running = [version for version in running if not version.note]
    return [version.result() for version in versions]


def main() -> None:
    with os.fdopen(3) as requests, os.fdopen(4, "w") as replies:
        for line in requests:
            replies.write(json.dumps({"results": measure(json.loads(line))}) + "\n")
            replies.flush()


if __name__ == "__main__":
    main()
