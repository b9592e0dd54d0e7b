"""The baselines: the user's module as it is (eager), through torch.compile, eager in one CUDA graph, and nothing at all: a call that
returns what eager returned before, which tells what a call costs when there is no work.

    JudgeProcess ── conducts (mtmc.keeper.conduct, the same code as for candidates) ── player: eager and nothing, or one other

Requests to the player: {"op": "open", "folder", "device", "threads", "seed"}, then as a candidate's process has them {"op": "lend"},
{"op": "state"}, {"op": "arm", "engine"}, {"op": "wake"}, {"op": "go"}; {"op": "engine"} makes the engine that was armed last;
{"op": "bandwidth"}. The program is told the name of the engine that it will be asked for.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map

from mtmc.device import kernel_calls
from mtmc.device.device import Device, device_named
from mtmc.device.memory import release
from mtmc.device.turn import turn, waits
from mtmc.guest.candidate import entries_of
from mtmc.guest.stopwatch import MOST_APART, Stopwatch
from mtmc.guest.surroundings import elsewhere
from mtmc.keeper.conduct import Conductor
from mtmc.keeper.processes import process_tree
from mtmc.keeper.starter import Starter, send
from mtmc.rivals import inductor
from mtmc.task.task import load_task
from mtmc.wire.by_name import Names, by_place
from mtmc.wire.entries import Entries
from mtmc.wire.forms import make, offsets, span_of, tensors_of
from mtmc.wire.line import REPLIES, REQUESTS, Line, Message, serve
from mtmc.wire.outputs import lazy, tensors
from mtmc.wire.plain import State, load_state, plain_tensors
from mtmc.wire.task_error import TaskError, first_line, out_of_memory

COMPILED = ("compile", "max-autotune")
FOREVER = 1e6  # seconds: whoever asks has a limit of its own
WARM_UPS = 3
OUT_OF_MEMORY = "out of memory"  # torch's word, whoever passes it on


class Graph:
    """A module's call captured once over arguments of its own, into which each call copies its own: eager in one graph costs that
    copy, too. It begins with the plain attributes that lay there when it was captured, `held`: others are copied there."""

    def __init__(self, model: torch.nn.Module, call: Callable[..., Any], arguments: list[Any]) -> None:
        self.arguments = arguments
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                call(*arguments)
        torch.cuda.current_stream().wait_stream(stream)
        self.held = plain_tensors(model)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = call(*arguments)

    def begin_with(self, state: State) -> None:
        for key, value in state.items():
            if key in self.held and self.held[key].shape == value.shape:
                self.held[key].copy_(value)

    def __call__(self, *arguments: Any) -> Any:
        overwrite(self.arguments, list(arguments))
        self.graph.replay()
        return self.result


def overwrite(old: Any, new: Any) -> None:
    """The new values in the tensors of the old ones."""
    for mine, given in zip(tensors(old), tensors(new), strict=True):
        mine.copy_(given)


def without_memory(leaf: Any) -> Any:
    """A tensor of gigabytes as one element that is all of them: nobody reads what `nothing` returns."""
    large = isinstance(leaf, torch.Tensor) and leaf.nbytes > MOST_APART // 4
    return leaf.new_empty(()).expand(leaf.shape) if large else leaf


class Player:
    """The process whose calls are timed."""

    def __init__(self) -> None:
        self.device: Device | None = None
        self.model: torch.nn.Module | None = None
        self.by_name: Names = ()
        self.engines: dict[str, Callable[..., Any]] = {}
        self.stopwatches: dict[str, Stopwatch] = {}  # by engine: each has arguments and results of its own
        self.name = ""  # of the engine that was armed last
        self.lent: dict[str, torch.Tensor] = {}
        self.reported: Entries = {}  # entries of the state that the answer to `go` describes

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
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        self.device = self.device or device_named(request["device"])
        self.on_forget(request)
        task = load_task(Path(request["folder"]) / "task.json", self.device.where)
        self.model, _ = task.make_unfilled(request["seed"])  # its state is lent
        self.by_name = task.by_name
        return {}

    def on_forget(self, _: Message) -> Message:
        """Gives back the memory of a task that is over: the next one's truth needs it before this process does."""
        self.model, self.lent = None, {}
        self.engines, self.stopwatches = {}, {}
        gc.collect()
        if self.device is not None and self.device.name == "cuda":
            torch.cuda.empty_cache()
        return {}

    def on_spare(self, _: Message) -> Message:
        """Others lack memory. `freed`: bytes of the GPU's."""
        before = torch.cuda.memory_reserved()
        gc.collect()
        torch.cuda.empty_cache()
        return {"freed": before - torch.cuda.memory_reserved()}

    def on_lend(self, request: Message) -> Message:
        assert self.device is not None
        self.lent = {name: make(form) for name, form in request["state"]["dict"]}
        return {"places": [self.device.place(span_of(tensor)) for tensor in self.lent.values()]}

    def on_state(self, _: Message) -> Message:
        assert self.model is not None
        load_state(self.model, self.lent, strict=False)
        for engine in self.engines.values():
            if isinstance(engine, Graph):
                engine.begin_with(self.lent)
        self.lent = {}
        return {}

    def on_engine(self, request: Message) -> Message:
        """Makes the engine, on the arguments that lie in their places, and warms it up; `failed` when it cannot be had (the module
        may still run without), `lacks_memory` when that is why. `waits`: for its turns on the GPU, each from when to
        when, by the monotonic clock."""
        before = len(waits())
        made = self.make_engine(request)
        return {**made, "waits": waits()[before:]}

    def make_engine(self, request: Message) -> Message:
        assert self.device is not None and self.model is not None
        name, arguments = self.name, self.stopwatches[self.name].arguments(request["values"])
        if name == "graph" and self.device.name == "cpu":
            return {"failed": "a CPU has no graphs"}
        model = engine = by_place(self.model, self.by_name)
        try:
            if name == "nothing":
                result = tree_map(without_memory, model(*arguments))
                engine = lambda *_: result  # noqa: E731
            elif name == "graph":
                engine = Graph(self.model, model, arguments)
            elif name in COMPILED:
                compiled = torch.compile(self.model, mode="max-autotune" if name == "max-autotune" else None)
                engine = by_place(compiled, self.by_name)
            self.warm_up(name, engine, arguments)
        except Exception as error:
            return {"failed": first_line(error), "lacks_memory": OUT_OF_MEMORY in str(error)}
        self.engines[name] = engine
        del arguments, self.stopwatches[name]  # with arguments that nobody needs until it is timed
        if name in COMPILED:
            gc.collect()  # torch.compile's objects hold what they were made with in a ring
        release(1.0)
        return {}

    def warm_up(self, name: str, engine: Callable[..., Any], arguments: list[Any]) -> None:
        assert self.device is not None
        if name not in COMPILED:
            engine(*arguments)  # what may compile for seconds takes no turn, see src/base/turn.h
        with inductor.in_turns() if name in COMPILED else turn(alone=False):
            for _ in range(WARM_UPS if name in COMPILED else WARM_UPS - 1):
                engine(*arguments)
            self.device.synchronize()

    def on_arm(self, request: Message) -> Message:
        assert self.device is not None
        self.name = request["engine"]
        assert self.model is not None
        if offsets(tensors_of(request["form"]))[1] > MOST_APART:  # the memory of one engine's call serves the next
            self.stopwatches = {name: watch for name, watch in self.stopwatches.items() if name == self.name}
        if self.name not in self.stopwatches:
            self.stopwatches[self.name] = Stopwatch(self.device)
        self.reported = entries_of(self.model, {name: name for name in request["state"]})
        return {"places": self.stopwatches[self.name].arm(request["form"], request["same_addresses"], request["hold"])}

    def on_wake(self, _: Message) -> Message:
        assert self.device is not None
        self.stopwatches[self.name].rehearse(self.engines[self.name], bool(self.reported))
        self.device.wake()
        if self.name == "max-autotune" and self.device.name == "cuda":
            torch.compiler.cudagraph_mark_step_begin()
        return {}

    def on_go(self, request: Message) -> Message:
        watch = self.stopwatches[self.name]
        # As a candidate's process: what that needs for its answer is known from ours.
        with elsewhere(request.get("where"), watch.places):
            elapsed = watch.go(self.engines[self.name], request["values"], request["seed"], request["late"])
        lazy(watch.held[-1])
        watch.hold()
        state = [[name, watch.described(table[key])] for name, (table, key) in self.reported.items()]
        reply = {"ns": elapsed, "results": {"list": [watch.described(watch.held[-1]), {"dict": state}]}}
        if self.name in ("graph", "max-autotune"):
            watch.forget()  # the next call may use the same memory
        return reply

    def on_bandwidth(self, _: Message) -> Message:
        assert self.device is not None
        return {"bytes_per_second": self.device.bandwidth()}


class Baseline:
    """Stands between the judge and the player, as the keeper does for a candidate. No walls are between them."""

    def __init__(self, line: Line, pid: int) -> None:
        self.line, self.number = line, pid
        self.conductor = Conductor(self, int(os.environ["MTMC_DRAWS"]), Starter([line.incoming]))

    def handle(self, request: Message) -> Message:
        if request["op"] in ("ready", "release", "proceed", "lend"):
            answer = getattr(self.conductor, request["op"])(request)
        else:
            answer = self.call(request, FOREVER)
            answer = answer.get("reply", answer)
        if request["op"] == "open":
            answer = {**answer, "session": self.number}
        if "died" in answer:
            os._exit(1)  # the judge finds a process that is gone, and makes another
        told = answer.get("reply", {})
        return told if "error" in told else answer

    def pid(self) -> int:
        return self.number

    def tree(self) -> list[int]:
        return process_tree(self.number)

    def tell(self, request: Message) -> None:
        self.line.send(request)

    def unasked(self) -> Message | None:
        return None

    def has_spoken(self) -> bool:
        return bool(select.select([self.line.incoming], [], [], 0)[0])

    def call(self, request: Message, timeout: float) -> Message:
        start = time.perf_counter()
        self.line.send(request)
        return self.answer(start, timeout)

    def answer(self, start: float, timeout: float, halt: Callable[[], None] | None = None) -> Message:
        while not self.line.complete():
            left = start + timeout - time.perf_counter()
            if not select.select([self.line.incoming], [], [], max(0.0, left))[0]:
                return self.end_because("timed-out", f"no answer within {timeout:.0f} s")
            if not self.line.read_some():
                return self.end_because("crashed", "it has ended")
        if halt:
            halt()
        wall = time.perf_counter() - start
        return {"reply": self.line.receive(), "wall_ms": wall * 1e3}

    def end_because(self, reason: str, detail: str) -> Message:
        send([self.number], signal.SIGKILL)
        return {"died": reason, "detail": detail}


def load_ahead() -> None:
    """What would be loaded for the first task, in the process that needs it. Loaded before the fork, torch's compiler ended that process
    at its first module on a GPU (H200, torch 2.11; why is not known)."""
    if set(sys.argv[1:]) & set(COMPILED):
        importlib.import_module("torch._inductor.compile_fx")
    gc.freeze()  # what is loaded by now is never garbage: else each task waits half a second for two collections


def main() -> None:
    # Torch.compile's advice, and where it gave up, is not for our users; of what their module warns the tracer tells.
    warnings.simplefilter("ignore")
    torch._logging.set_logs(all=logging.ERROR)
    ours, theirs = socket.socketpair()
    if (pid := os.fork()) == 0:
        kernel_calls.prctl(kernel_calls.SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()  # as guests have: a busy scheduler shares cores out by sessions
        ours.close()
        os.close(REQUESTS)
        os.close(REPLIES)
        load_ahead()
        serve(Line(theirs.fileno(), theirs.fileno()), Player().handle)
        os._exit(0)
    theirs.close()
    torch.set_num_threads(1)  # threads of ours would spin while the player's work
    kernel_calls.be_prompt()
    serve(Line(REQUESTS, REPLIES), Baseline(Line(ours.fileno(), ours.fileno()), pid).handle)


if __name__ == "__main__":
    main()
