"""Times versions of one kernel against each other, for micro coding. It is not the judge: it checks no answer, isolates
nothing, and its times are used only to order versions.

Requests on the private pipe: {"modules": [path, ...], "inputs": ["f32[64,512]", ...], "seconds": 3.0, "device": "cpu"}. The
reply has one result per module, {"ms": median} or {"note": why there is none}. On a GPU, processes of our own compile, each
version is timed as soon as it is compiled, and one whose binaries are those of another is not timed again. A request with
"prepare" has no reply: its modules are compiled, so that they are ready when they are to be timed. Nor has
{"stop_preparing": true}: what does not compile yet is forgotten; nor {"task_bytes": N}: a task of so many bytes is worked on from now on,
beside which processes that compile must find room. {"in_full_f32": [...]} is answered by the same: see full_f32.py.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from mtmc.device.device import Device, device_named
from mtmc.device.turn import seconds_waited, shared, turn
from mtmc.tune.builders import BuildError, Builders
from mtmc.tune.full_f32 import in_full_f32
from mtmc.tune.versions import compile_version, forget, get_ready, input_spec, load

HOPELESS = 3.0  # times the best so far: not timed any further
SHORTEST = 0.002  # seconds: a sample repeats the call until it takes at least this long
SAMPLES = 9  # of each version that is not hopeless, when time allows

LEAST_BUILDERS, BUILDERS = 2, 14  # processes that compile
BUILDERS_SHARE = 0.4  # of the GPU's memory: as much of a task leaves room for one of them
NOT_IN_TIME = "it did not compile in time"  # as src/coder/tuner.h has it
PRELOADED = ["mtmc.tune.versions", "mtmc.guest.ahead", "mtmc.device.cuda", "mtmc.device.triton_seed_kernel"]

Call = Callable[[], Any]


def try_load(path: str) -> ModuleType | Exception:
    try:
        return load(path)
    except Exception as error:  # whatever a version raises is its answer
        return error


def random_tensor(type_text: str, where: str = "cpu") -> torch.Tensor:
    """Floats are normal, integers 0 or 1 so that they are valid as any index, booleans even odds."""
    with torch.device(where):
        return replace(input_spec(type_text), bound=2).draw()


class Version:
    """One version: its call, its samples in seconds, and why it is out."""

    def __init__(self, loaded: ModuleType | Exception, inputs: list[torch.Tensor], device: Device) -> None:
        self.device = device
        self.samples: list[float] = []
        self.note = ""
        self.repeats = 1
        self.call: Call | None = None
        if isinstance(loaded, Exception):
            self.note = (
                str(loaded) if isinstance(loaded, BuildError) else f"{type(loaded).__name__}: {str(loaded)[:300]}"
            )
            return
        try:
            model = loaded.ModelNew()
            self.call = lambda: model(*inputs)
            self.call()
            device.synchronize()
            once = self._time(1)
        except Exception as error:  # so is what its first call raises
            self.note = f"{type(error).__name__}: {str(error)[:300]}"
            self.call = None
            return
        self.repeats = max(1, int(SHORTEST / max(once, 1e-7))) if device.name == "cpu" else 1
        self.samples = [once]

    def _time(self, repeats: int) -> float:
        assert self.call is not None
        if self.device.name != "cpu":
            return self.device.kernel_seconds(self.call)
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
    name = request.get("device", "cpu")
    device = device_named(name)
    torch.manual_seed(0)
    if name == "cpu":
        with ThreadPoolExecutor(cores()) as pool:
            loaded = list(pool.map(try_load, request["modules"]))
        inputs = [random_tensor(text) for text in request["inputs"]]
        deadline = time.perf_counter() + request["seconds"]
        with torch.no_grad():
            versions = [Version(one, inputs, device) for one in loaded]
            compare(versions, deadline)
        return [version.result() for version in versions]
    until = time.perf_counter() + request["build_seconds"]
    if shared():
        wait(compile_all(request), request["build_seconds"])
    with torch.no_grad(), turn(alone=True):
        inputs = [random_tensor(text, name) for text in request["inputs"]]
        versions = first_samples(request, inputs, device, max(0.0, until - time.perf_counter()))
        own = list({id(version): version for version in versions}.values())
        compare(own, time.perf_counter() + request["seconds"])
        results = [version.result() for version in versions]
        del inputs, versions, own
        forget()  # before the answer: whoever reads it stops this process while others are timed
    return results


def first_samples(request: dict[str, Any], inputs: list[torch.Tensor], device: Device, seconds: float) -> list[Version]:
    """A version per module, timed once when its kernels are compiled, in so many seconds; modules with the same binaries share one."""
    compiling = compile_all(request)
    waiting: dict[Future[str], list[int]] = {}
    for index, future in enumerate(compiling):
        waiting.setdefault(future, []).append(index)
    found: dict[int, Version] = {}
    by_binary: dict[str, Version] = {}
    for done, late in in_time(waiting, seconds):
        error = BuildError(NOT_IN_TIME) if late else done.exception()
        for index in waiting[done]:
            if error is not None:
                found[index] = Version(error if isinstance(error, Exception) else Exception(str(error)), inputs, device)
                continue
            path = request["modules"][index]
            binaries = done.result() or path  # no binaries: nobody else's version
            if binaries not in by_binary:
                by_binary[binaries] = Version(try_load(path), inputs, device)
            found[index] = by_binary[binaries]
    return [found[index] for index in range(len(found))]


def in_time(compiling: Iterable[Future[str]], seconds: float) -> Iterator[tuple[Future[str], bool]]:
    """Each as soon as it is done, and whether it came too late. Such a one is ended, so that it keeps neither the others nor a
    process, and begins anew when it is asked for again."""
    left = set(compiling)
    with contextlib.suppress(TimeoutError):
        for done in as_completed(left, seconds):
            left.discard(done)
            yield done, False
    for key in [key for key, future in COMPILING.items() if future in left]:
        del COMPILING[key]
    for late in [late for late in left if not late.cancel()]:
        builders().end(late)
    wait(left)
    yield from ((late, True) for late in left)


COMPILING: dict[str, Future[str]] = {}  # by the text of a module and its inputs


def compile_all(request: dict[str, Any]) -> list[Future[str]]:
    """Has the request's modules compiled, each text once."""
    inputs = request["inputs"]
    found = []
    for path in request["modules"]:
        key = json.dumps([Path(path).read_text(), inputs])
        if key not in COMPILING or COMPILING[key].cancelled():
            COMPILING[key] = builders().submit(compile_version, path, inputs)
        found.append(COMPILING[key])
    return found


def stop_preparing() -> None:
    """Compiles nothing that has not begun."""
    for future in COMPILING.values():
        future.cancel()


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0))


def processes_beside(task_bytes: int, gpu_bytes: int) -> int:
    """How many may compile: as many as there are cores, or, beside a task of gigabytes, as leave it room. Each takes some 0.7 GB
    of the GPU's memory, whatever it compiles."""
    room = int(BUILDERS_SHARE * gpu_bytes) // max(task_bytes, 1)
    return max(LEAST_BUILDERS, min(BUILDERS, cores(), room))


def make_room(task_bytes: int) -> None:
    """For a task of so many bytes."""
    builders().fit(processes_beside(task_bytes, torch.cuda.mem_get_info()[1]))


@functools.cache
def builders() -> Builders:
    """The processes that compile; none before somebody says how many there may be."""
    return Builders(PRELOADED, get_ready)


def compare(versions: list[Version], deadline: float) -> None:
    """Interleaved rounds of those that run, without the hopeless, until the time is up."""
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


def main() -> None:
    if sys.argv[1:] == ["cuda"]:  # ready when the first request comes
        builders()  # they import what they need meanwhile
        device_named("cuda")
        make_room(0)
    with os.fdopen(3) as requests, os.fdopen(4, "w") as replies:
        for line in requests:
            request = json.loads(line)
            if request.get("stop_preparing"):
                stop_preparing()
            elif "task_bytes" in request:
                make_room(request["task_bytes"])
            elif request.get("prepare"):
                compile_all(request)
            elif "in_full_f32" in request:
                with turn(alone=True):
                    answers = in_full_f32(request["in_full_f32"], device_named("cuda"))
                    forget()
                replies.write(json.dumps({"in_full_f32": answers}) + "\n")
                replies.flush()
            else:
                before = seconds_waited()
                reply = json.dumps({"results": measure(request), "waited": seconds_waited() - before})
                replies.write(reply + "\n")
                replies.flush()
    if sys.argv[1:] == ["cuda"]:
        builders().shutdown()


if __name__ == "__main__":
    main()
