"""The baselines: the user's module as it is (eager) and through torch.compile, timed call by call in a process of their own.

Requests: {"op": "open", "folder", "threads", "seed"}, {"op": "compile"}, {"op": "arm", ...} and {"op": "go", "engine"} as
the candidate's process has them, {"op": "bandwidth"}.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from mtmc import blobs
from mtmc.device import current_device
from mtmc.stopwatch import Stopwatch
from mtmc.task import TaskError, first_line, load_task
from mtmc.wire import REPLIES, REQUESTS, Line, Message, serve


class Baseline:
    def __init__(self) -> None:
        self.device = current_device()
        self.stopwatch = Stopwatch(self.device)
        self.engines: dict[str, Callable[..., Any]] = {}

    def handle(self, request: Message) -> Message:
        try:
            return getattr(self, "on_" + request["op"])(request)
        except TaskError as error:
            return {"error": error.to_json()}

    def on_hello(self, _: Message) -> Message:
        return {}

    def on_open(self, request: Message) -> Message:
        torch.set_num_threads(request["threads"])
        torch.set_grad_enabled(False)
        torch._dynamo.reset()
        folder = Path(request["folder"])
        self.engines = {}
        self.stopwatch = Stopwatch(self.device)
        model = load_task(folder / "task.json").make_model(request["seed"])
        model.load_state_dict(blobs.load(folder / "state-first"))
        self.engines["eager"] = model
        return {}

    def on_compile(self, request: Message) -> Message:
        """Compiles and warms up; `failed` when torch.compile cannot (the module may still run without)."""
        compiled = torch.compile(self.engines["eager"])
        arguments = blobs.load(Path(request["draw"]))
        try:
            for _ in range(3):
                compiled(*arguments)
        except Exception as error:
            return {"failed": first_line(error)}
        self.engines["compile"] = compiled
        return {}

    def on_arm(self, request: Message) -> Message:
        self.stopwatch.arm(Path(request["draw"]), request["seed"], request["same_addresses"])
        return {}

    def on_go(self, request: Message) -> Message:
        self.device.wake()
        return {"ns": self.stopwatch.go(self.engines[request["engine"]])}

    def on_bandwidth(self, _: Message) -> Message:
        return {"bytes_per_second": self.device.bandwidth()}


def main() -> None:
    serve(Line(REQUESTS, REPLIES), Baseline().handle)


if __name__ == "__main__":
    main()
