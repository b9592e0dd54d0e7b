"""The baselines: the user's module as it is (eager), through torch.compile, and eager in one CUDA graph, timed call by call
in a process of their own.

Requests: {"op": "open", "folder", "device", "threads", "seed"}, {"op": "ready", "engine", "draw"}, {"op": "arm", ...} and
{"op": "go", "engine"} as the candidate's process has them, {"op": "bandwidth"}.
"""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # by the time the first task comes

from mtmc import blobs
from mtmc.device import Device, device_named, release
from mtmc.stopwatch import Stopwatch, overwrite
from mtmc.task import TaskError, first_line, load_task
from mtmc.task_error import out_of_memory
from mtmc.wire import REPLIES, REQUESTS, Line, Message, serve

WARM_UPS = 3


class Graph:
    """A module's call captured once over arguments of its own; `take` puts other values there, outside the timed call."""

    def __init__(self, model: Callable[..., Any], arguments: list[Any]) -> None:
        self.arguments = arguments
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                model(*arguments)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = model(*arguments)

    def take(self, arguments: list[Any]) -> None:
        overwrite(self.arguments, arguments)

    def __call__(self, *_: Any) -> Any:
        self.graph.replay()
        return self.result


class Baseline:
    def __init__(self) -> None:
        self.device: Device | None = None
        self.stopwatch: Stopwatch | None = None
        self.engines: dict[str, Callable[..., Any]] = {}

    def handle(self, request: Message) -> Message:
        try:
            return getattr(self, "on_" + request["op"])(request)
        except TaskError as error:
            return {"error": error.to_json()}
        except torch.OutOfMemoryError as error:
            return {"error": out_of_memory("timing the module as it is", error).to_json()}

    def on_hello(self, _: Message) -> Message:
        return {}

    def on_open(self, request: Message) -> Message:
        torch.set_num_threads(request["threads"])
        torch.set_grad_enabled(False)
        torch._dynamo.reset()
        folder = Path(request["folder"])
        self.device = self.device or device_named(request["device"])
        self.engines = {}
        self.stopwatch = Stopwatch(self.device)
        gc.collect()
        if self.device.name == "cuda":
            torch.cuda.empty_cache()
        model = load_task(folder / "task.json", self.device.where).make_model(request["seed"])
        model.load_state_dict(blobs.load(folder / "state-first"))
        self.engines["eager"] = model
        return {}

    def on_ready(self, request: Message) -> Message:
        """Makes an engine and warms it up; `failed` when it cannot be had (the module may still run without)."""
        assert self.device is not None
        name, arguments = request["engine"], blobs.load(Path(request["draw"]))
        if name == "graph" and self.device.name == "cpu":
            return {"failed": "a CPU has no graphs"}
        try:
            if name == "graph":
                engine: Callable[..., Any] = Graph(self.engines["eager"], arguments)
            else:
                mode = "max-autotune" if name == "max-autotune" else None
                engine = torch.compile(self.engines["eager"], mode=mode)
            for _ in range(WARM_UPS):
                engine(*arguments)
            self.device.synchronize()
        except Exception as error:
            return {"failed": first_line(error)}
        self.engines[name] = engine
        del arguments
        release()
        return {}

    def on_arm(self, request: Message) -> Message:
        assert self.stopwatch is not None and self.device is not None
        self.stopwatch.arm(Path(request["draw"]), request["seed"], request["same_addresses"])
        return {}

    def on_go(self, request: Message) -> Message:
        assert self.stopwatch is not None and self.device is not None
        engine = self.engines[request["engine"]]
        self.device.wake()
        self.stopwatch.rehearse(engine)
        if isinstance(engine, Graph):
            engine.take(self.stopwatch.arguments or [])
            self.device.flush()
        elif request["engine"] == "max-autotune" and self.device.name == "cuda":
            torch.compiler.cudagraph_mark_step_begin()
        start = time.perf_counter_ns()
        elapsed = self.stopwatch.go(engine)
        beside = time.perf_counter_ns() - start - elapsed
        if request["engine"] in ("graph", "max-autotune"):
            self.stopwatch.forget()  # the next call may use the same memory
        return {"ns": elapsed, "beside_ns": beside}

    def on_bandwidth(self, _: Message) -> Message:
        assert self.device is not None
        return {"bytes_per_second": self.device.bandwidth()}


def main() -> None:
    warnings.filterwarnings("ignore", "TensorFloat32 tensor cores")  # torch.compile's advice is not for our users
    serve(Line(REQUESTS, REPLIES), Baseline().handle)


if __name__ == "__main__":
    main()
