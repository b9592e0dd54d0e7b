"""Forks one locked guest per candidate from a process in which torch is already imported, and stands between it and the
judge: relays requests, holds the stopwatch outside the guest, and ends guests that take too long or too much.

Requests about the guest that is judged:
    {"op": "spawn", "folder", "writable", "environment", "limits", ...}: there is a new one, the one before is gone
    {"op": "call", "request", "timeout"}: its answer to any request
    {"op": "ready"}, {"op": "release"}, {"op": "proceed"}, {"op": "halt"}, {"op": "look"}, {"op": "reread"}, {"op": "unlike"}: one call of its candidate (conduct.py)
    {"op": "quiet"}: does it still work while nobody asks it to?
    {"op": "end"}
about those that stand by (standby.py; the rest as in "spawn"):
    {"op": "spare", ...}: one that warms up, for a "spawn" or a "prepare" with this folder
    {"op": "prepare", "requests", ...}: one that answers requests while another is judged
    {"op": "leave", "folder", "timeout"}: once it has answered all, it ends
    {"op": "adopt", "folder", "timeout"}: once it has answered all, it is the one that is judged
    {"op": "pause"}, {"op": "resume"}: all of them stand still, or go on
about all that are forked from then on:
    {"op": "import", "modules"}: they have these already. `forks`: whether there can be any

CUDA is never initialised here: a process that was forked afterwards could not use it. Each guest does, once it is locked.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from mtmc.device import kernel_calls
from mtmc.guest import ahead, runner
from mtmc.guest.audit import FORBIDDEN_IMPORTS
from mtmc.guest.limits import Limits
from mtmc.guest.surroundings import Operators, operators
from mtmc.keeper.conduct import Conductor
from mtmc.keeper.processes import kill_tree, process_tree, usage
from mtmc.keeper.sandbox import Guest, can_own_proc, level, lock, reach, start_guest
from mtmc.keeper.standby import Standby, excess
from mtmc.keeper.starter import Starter, send
from mtmc.keeper.stuck import told_of
from mtmc.wire.line import REPLIES, REQUESTS, Line, Message, serve
from mtmc.wire.task_error import first_line

WATCH_SECONDS = 0.05
COMPILED_FOR = 90  # any GPU will do
START_SECONDS = 60.0  # until a guest answers for the first time
SETTLE_SECONDS, LISTEN_SECONDS = 0.03, 0.02  # OpenMP's threads spin for some milliseconds after a call


def forget(package: str) -> None:
    """Whoever imports it next imports its Python modules anew. Native ones stay: they cannot be loaded twice."""
    native = package + "._C"
    for name in [name for name in sys.modules if name == package or name.startswith(package + ".")]:
        if not name.startswith(native):
            del sys.modules[name]


class Zygote:
    def __init__(self) -> None:
        self.guest: Guest | None = None
        self.standby = Standby(self.start, self.finish)
        self.limits = Limits(memory_bytes=1 << 62)
        self.ending: list[int] = []  # keepers that were killed
        self.own_proc: bool | None = None  # found out for the first guest on a GPU
        self.operators: Operators | None = None  # for the first guest, and after each import
        self.draws = int(os.environ["MTMC_DRAWS"])
        self.starter = Starter([REQUESTS, REPLIES, *([self.draws] if self.draws >= 0 else [])])
        self.conductor = Conductor(self, self.draws, self.starter)
        self.asked = 0.0  # when the guest last answered

    def handle(self, request: Message) -> Message:
        return getattr(self, "on_" + request["op"])(request)

    def on_hello(self, _: Message) -> Message:
        return {"ok": True, "torch": torch.__version__}

    def on_spawn(self, request: Message) -> Message:
        self.end()
        self.conductor.begin()
        self.limits = Limits(**request["limits"])
        if spare := self.standby.take_spare(request["folder"]):  # may have died while it waited
            self.guest = spare
            started = self.answer(time.perf_counter(), START_SECONDS)
            if "reply" not in started or self.has_spoken():  # through no fault of the candidate that it waited for
                self.end()
                spare = None
        if spare is None:
            self.guest = self.start(request)
            started = self.call({"op": "hello"}, START_SECONDS)
        parts = self.guest.parts + started.get("reply", {}).get("parts", []) if self.guest else []
        return {**started, "sandbox": level(parts), "parts": parts}

    def start(self, request: Message) -> Guest:
        folder = Path(request["folder"])
        folder.mkdir(parents=True, exist_ok=True)
        limits = Limits(**request["limits"])
        writable = reach(request["writable"], limits.device)
        known = self.operators = self.operators or operators()

        def main(line: Line) -> None:
            os.environ.update(request["environment"])
            if os.environ["TRITON_INTERPRET"] == "1":
                forget("triton")  # its own functions are compiled or interpreted as it was when they were imported
            os.chdir(folder)
            runner.main(line, lock(writable, limits), limits.device, known)

        others = self.standby.guests() + ([self.guest] if self.guest is not None else [])
        # Other candidates' lines, and the folder of all arguments.
        lines = [self.starter.line, *(other.line for other in others)]
        foreign = [*([self.draws] if self.draws >= 0 else []), *(line.incoming for line in lines)]
        if limits.device == "cpu":
            return start_guest(main, folder, foreign, writable, hidden=request["hidden"])
        if self.own_proc is None:
            self.own_proc = can_own_proc()
        return start_guest(main, folder, foreign, writable, self.own_proc, request["hidden"])

    def on_spare(self, request: Message) -> Message:
        self.standby.add_spare(request)
        return {"ok": True}

    def on_prepare(self, request: Message) -> Message:
        self.standby.prepare(request)
        return {"ok": True}

    def on_leave(self, request: Message) -> Message:
        self.standby.leave(request["folder"], request["timeout"])
        return {"ok": True}

    def on_adopt(self, request: Message) -> Message:
        """`reply`: the last answer of the worker; none where there is no such guest."""
        self.end()
        if (worker := self.standby.adopt(request["folder"], request["timeout"])) is None:
            return {}
        self.guest, self.limits, self.asked = worker.guest, worker.limits, time.perf_counter()
        self.conductor.begin()
        parts = self.guest.parts + worker.replies[0].get("parts", [])
        return {"reply": worker.replies[-1], "sandbox": level(parts)}

    def on_import(self, request: Message) -> Message:
        """What does not import here does not in guests either, and says so there. Nobody is forked with packages that only
        libraries of the task may ask for: a candidate would find them loaded."""
        before = set(sys.modules)
        self.operators = None  # a library may bring its own
        for name in request["modules"]:
            try:
                importlib.import_module(name)
            except (Exception, SystemExit) as error:
                print(f"importing {name} for candidates: {first_line(error)}", file=sys.stderr)
        torch.set_num_threads(1)
        gc.freeze()
        packages = {name.partition(".")[0] for name in set(sys.modules) - before}
        return {"forks": packages.isdisjoint(FORBIDDEN_IMPORTS - {"mtmc"}) and not torch.cuda.is_initialized()}

    def on_pause(self, _: Message) -> Message:
        self.reap()
        self.standby.signal(signal.SIGSTOP)
        return {"ok": True}

    def on_resume(self, _: Message) -> Message:
        self.standby.signal(signal.SIGCONT)
        return {"ok": True}

    def on_call(self, request: Message) -> Message:
        return self.call(request["request"], request["timeout"])

    def on_lend(self, request: Message) -> Message:
        return self.conductor.lend(request)

    def on_look(self, request: Message) -> Message:
        return self.conductor.look(request)

    def on_ready(self, request: Message) -> Message:
        return self.conductor.ready(request)

    def on_release(self, request: Message) -> Message:
        return self.conductor.release(request)

    def on_proceed(self, _: Message) -> Message:
        return self.conductor.proceed()

    def on_halt(self, request: Message) -> Message:
        return self.conductor.halt(request)

    def on_unplug(self, request: Message) -> Message:
        return self.conductor.unplug(request)

    def on_reread(self, request: Message) -> Message:
        return self.conductor.reread(request)

    def on_unlike(self, request: Message) -> Message:
        return self.conductor.unlike(request)

    def pid(self) -> int:
        assert self.guest is not None
        return self.guest.guest

    def tree(self) -> list[int]:
        if self.guest is None:
            return []
        below = [pid for pid in process_tree(self.guest.keeper)[1:] if pid != self.guest.init]
        return list(dict.fromkeys([self.guest.guest, *below]))  # what /proc says of children may leave one out

    def tell(self, request: Message) -> None:
        assert self.guest is not None
        self.guest.line.send(request)

    def has_spoken(self) -> bool:
        """After an answer the guest says nothing unasked: what can be read is its end, or not its runner's."""
        assert self.guest is not None
        return bool(select.select([self.guest.line.incoming], [], [], 0)[0])

    def unasked(self) -> Message | None:
        assert self.guest is not None
        if not self.guest.line.buffer and not self.has_spoken():
            return None
        try:
            if self.guest.line.buffer or self.guest.line.read_some():
                return self.end_because("tampered", "the guest wrote to its line without being asked")
        except ConnectionResetError:
            pass  # it has ended before it read all
        return self._ended()

    def on_quiet(self, _: Message) -> Message:
        """How long the guest's threads ran while it had nothing to do, after the time that idle threads may spin."""
        if self.guest is None:
            return {"died": "crashed", "detail": "no guest"}
        time.sleep(max(0.0, self.asked + SETTLE_SECONDS - time.perf_counter()))
        before = usage(self.guest.keeper, without=self.guest.init)
        time.sleep(LISTEN_SECONDS)
        after = usage(self.guest.keeper, without=self.guest.init)
        return {"busy_ms": (after.cpu_ns - before.cpu_ns) / 1e6, "processes": after.processes, "threads": after.threads}

    def on_end(self, _: Message) -> Message:
        self.end()
        return {"ok": True}

    def call(self, request: Message, timeout: float) -> Message:
        """Relays one request. The reply carries the wall time seen from here, or how the guest died."""
        if self.guest is None:
            return {"died": "crashed", "detail": "no guest"}
        if told := self.unasked():
            return told
        start = time.perf_counter()
        try:
            self.guest.line.send(request)
        except OSError:
            return self._ended()
        return self.answer(start, timeout)

    def answer(self, start: float, timeout: float, halt: Callable[[], None] | None = None) -> Message:
        """The guest's answer to a request that was sent at `start`. `halt` stops it before the time is taken."""
        assert self.guest is not None
        while True:
            left = start + timeout - time.perf_counter()
            try:
                if select.select([self.guest.line.incoming], [], [], max(0.0, min(left, WATCH_SECONDS)))[0]:
                    if not self.guest.line.read_some():
                        return self._ended()
                    if self.guest.line.complete():
                        if halt:
                            halt()
                        self.asked = time.perf_counter()
                        wall = self.asked - start
                        return {"reply": self.guest.line.receive(), "wall_ms": wall * 1e3}
            except ConnectionResetError:
                return self._ended()
            except ValueError:
                return self.end_because("tampered", "the guest wrote something else than an answer to its line")
            if found := excess(self.guest, self.limits):
                return self.end_because(*found)
            self.standby.watch()
            if left <= 0:
                return self.end_because("timed-out", f"no answer within {timeout:.0f} s ({told_of(self.guest.guest)})")

    def end_because(self, reason: str, detail: str) -> Message:
        self.end()
        return {"died": reason, "detail": detail}

    def _ended(self) -> Message:
        """The guest closed its line: how did it end?"""
        assert self.guest is not None
        guest, self.guest = self.guest, None
        deadline = time.perf_counter() + 2.0
        code = None
        while code is None and time.perf_counter() < deadline:
            pid, status = os.waitpid(guest.keeper, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if pid else None
            time.sleep(0.001)
        if code is None:  # it closed the line and goes on
            self.guest = guest
            return self.end_because("crashed", "closed its line and went on")
        os.close(guest.line.incoming)
        how = f"signal {code - 128}" if code > 128 else f"exit code {code}"
        return {"died": "crashed", "detail": how}

    def end(self) -> None:
        self.conductor = Conductor(self, self.draws, self.starter)
        if self.guest is not None:
            self.finish(self.guest)
            self.guest = None

    def finish(self, guest: Guest) -> None:
        """Ends a guest. On a GPU the driver takes its time to clean up after it: nobody waits before the next timed call."""
        if "namespaces" in guest.parts and self.own_proc is not False:
            send([guest.init], signal.SIGKILL)  # process 1: the kernel ends all of them, who forks on and on included
        else:
            kill_tree(guest.init)
        kill_tree(guest.keeper)
        os.close(guest.line.incoming)
        self.ending.append(guest.keeper)
        if self.own_proc is None:
            self.reap()

    def reap(self) -> None:
        while self.ending:
            os.waitpid(self.ending.pop(), 0)


def load_gpu_packages() -> None:
    """Imports what candidates for a GPU import, and has Triton compile once, which needs no GPU: the compiler finds its
    tools and hashes itself for half a second the first time. Triton may be missing here, and then theirs say so."""
    try:
        from triton.runtime.build import platform_key

        from mtmc.device.triton_seed_kernel import run_into
    except ImportError:
        return
    platform_key()  # kept from now on; it starts a process
    before = os.environ.get("TRITON_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        x = torch.zeros(64)
        try:
            for launch in ahead.recorded(lambda: run_into(x, x)):
                ahead.compile_for(launch, COMPILED_FOR)
        except Exception as error:  # only slower: each candidate finds out for itself what does not work
            print(f"having Triton compile ahead: {first_line(error)}", file=sys.stderr)
    del os.environ["TRITON_CACHE_DIR"]
    if before is not None:
        os.environ["TRITON_CACHE_DIR"] = before


def main() -> None:
    if sys.argv[1:] == ["cuda"]:
        load_gpu_packages()
    torch.set_num_threads(1)  # a process that has used OpenMP's threads can fork none that use them
    kernel_calls.be_prompt()
    gc.freeze()  # what is loaded by now is never garbage: collections in guests skip it
    zygote = Zygote()
    try:
        serve(Line(REQUESTS, REPLIES), zygote.handle, meanwhile=zygote.standby.watch)
    finally:
        for guest in zygote.standby.guests():
            zygote.finish(guest)
        zygote.end()


if __name__ == "__main__":
    main()
