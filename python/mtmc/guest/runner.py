"""Runs one candidate inside its locked room: what the guest that the zygote forks executes.

Nothing that is answered from here is believed (docs/JUDGE.md): arguments are put into this process from outside, results are
read from outside, the clock runs outside. What is said here can refuse a candidate, never certify one.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from mtmc.device.cuda import DeviceError
from mtmc.device.device import device_named
from mtmc.device.digest import digest
from mtmc.device.memory import release
from mtmc.device.random_state import other_random_states, random_state
from mtmc.guest import ahead, unplug
from mtmc.guest.audit import Audit
from mtmc.guest.candidate import Refused, assign, construct, entries_of, import_candidate, load_weights, match
from mtmc.guest.failures import classify
from mtmc.guest.profile import profile_call, profile_kernels
from mtmc.guest.stopwatch import Stopwatch
from mtmc.guest.surroundings import Operators, another, elsewhere, operators
from mtmc.guest.tamper import Snapshot
from mtmc.wire import outputs
from mtmc.wire.by_name import by_place
from mtmc.wire.entries import Entries
from mtmc.wire.forms import FormError, make, rebuilt, scalar_of, span_of
from mtmc.wire.line import Line, Message, serve
from mtmc.wire.plain import fit_buffers
from mtmc.wire.task_error import first_line

CAPABILITIES = (80, 90, 100)  # of the GPUs that kernels are compiled for where there is none
TIMED = ("wake", "go")  # requests after which nothing else may be done at once
# Those of calls in a row: what one leaves in torch's allocator, the next one uses.
ROUND = ("arm", "hello", *TIMED, "after")
# Weights so small are set anew between timed calls. If memory were given back then, the next call would have to get it from
# the driver: half of a millisecond for a result of a gigabyte, of which eager's process knows nothing.
SET, MOST_BETWEEN = ("lend", "state"), 64 << 20  # bytes


class Runner:
    # A candidate that walks up the stack to us, or to our tools, can hide no method behind an attribute.
    __slots__ = (
        *("parts", "device", "stopwatch", "audit", "snapshot", "changes", "release"),
        *("model", "file", "names", "lent", "lent_bytes", "reported", "unplugged"),
        *("loaded", "first", "drawn", "operators"),
    )

    def __init__(self, parts: list[str], device: str, known: Operators) -> None:
        self.parts = parts
        self.device = device_named(device)
        self.device.confine()
        self.stopwatch = Stopwatch(self.device)
        self.audit: Audit | None = None
        self.snapshot = Snapshot()
        torch.set_num_threads(torch.get_num_threads())  # takes long the first time
        self.changes: Callable[[], list[str]] | None = None  # bound: its class may be changed
        self.model: torch.nn.Module | None = None
        self.file = Path()
        self.names: dict[str, str] = {}
        self.lent: dict[str, torch.Tensor] = {}  # memory for weights to come
        self.lent_bytes = 0  # of the last of them
        self.reported: Entries = {}  # entries of the state that the answers to `go` describe
        self.unplugged: unplug.DriverLaunches | None = None
        self.release = release  # bound, as above
        self.loaded: Message = {}  # the request that loaded the candidate
        self.first: tuple[torch.nn.Module, dict[str, str]] | None = None  # that is judged, beside another one
        self.drawn: dict[str, Any] = {}  # random states that are not torch's
        self.operators = known  # as torch's were before any candidate came

    def handle(self, request: Message) -> Message:
        """Any failure of the candidate's is a reply with `fail` and `message`; attempts that the audit saw come first."""
        check = self.changes  # ours, whatever the request makes of the attribute
        try:
            reply = getattr(self, "on_" + request["op"])(request)
        except Refused as refused:
            reply = {"fail": refused.reason, "message": refused.message}
        except DeviceError as error:  # of a kernel that was started before
            reason, message = classify(error, "crashed", self.file)
            reply = {"fail": reason, "message": message}
        except RuntimeError as error:
            # Ours fail on the GPU for what the candidate did to it: memory, or an earlier kernel.
            reason, message = classify(error, "", self.file)
            reply = {"fail": reason, "message": message}
            if not reason or self.device.name == "cpu":
                reply = broken(request["op"], error)
        except Exception as error:
            reply = broken(request["op"], error)
        if self.audit is not None and self.audit.found:
            reason, detail = self.audit.found[0]
            reply = {"fail": reason, "message": detail}
        elif check is not None and "fail" not in reply:
            changes = [] if request["op"] in TIMED else check()
            if self.changes is not check:
                changes.append("Runner.changes")
            if changes:
                reply = {"fail": "tampered", "message": "changed " + ", ".join(changes[:5])}
        between = request["op"] in ROUND or (request["op"] in SET and self.lent_bytes <= MOST_BETWEEN)
        if not between and "fail" not in reply:  # after a failure the GPU may not be asked for anything
            self.release()
        return reply

    def on_hello(self, _: Message) -> Message:
        return {"parts": self.parts}

    def on_load(self, request: Message) -> Message:
        """Imports the file and makes its ModelNew, whose weights come later (`lend`, `state`)."""
        self.file = Path(request["file"])
        os.environ.update(request["environment"])
        torch.set_num_threads(request["threads"])
        torch.set_grad_enabled(False)
        if self.audit is None:  # the same candidate's may be loaded again
            self.audit = Audit(request["writable"], request["secret"], request["asked"])
            self.snapshot.begin()
            self.changes = self.snapshot.changes
        import_candidate(self.file)
        self.loaded, self.first = request, None
        weights = self._begin_with(self._constructed(request["task"]))
        self.drawn = other_random_states()
        self.device.synchronize()
        return {"weights": weights, "claims": unplug.claims_kernels(self.file.read_text(errors="replace"))}

    def _constructed(self, task: str) -> torch.nn.Module:
        asked, cls = self.loaded, sys.modules["candidate"].ModelNew
        state = dict(asked["state"]["dict"])
        model = construct(cls, Path(task), self.file, asked["seed"], self.device.where, state)
        return model.train(asked["mode"] == "train")

    def _begin_with(self, model: torch.nn.Module) -> str:
        """It is the one that is called from now on. How the reference's state fits."""
        self.model = model
        weights, self.names = match(model, dict(self.loaded["state"]["dict"]))
        return weights

    def on_other(self, request: Message) -> Message:
        """Another instance stands in the candidate's place, a `copy` of it or a `new` one, until it comes `back`. `there`: is there
        one?"""
        assert self.model is not None
        if request["how"] == "back":
            assert self.first is not None
            (self.model, self.names), self.first = self.first, None
            gc.collect()  # modules are often cycles, and hold a GPU's memory
            return {"there": True}
        try:
            found = another(self.model, request["how"], lambda: self._constructed(request["task"]))
        except (Exception, SystemExit) as error:
            reason, message = classify(error, "raised", self.file)
            if reason == "out-of-memory":  # for two of them: nobody promises that there is so much
                return {"there": False, "why": message}
            raise Refused(reason, message) from error
        if request["how"] == "new":  # it may have drawn weights from any of them
            self.drawn = other_random_states()
        if found is not None:
            self.first = self.model, self.names
            if request["how"] == "copy":  # what has grown in the first one has in it
                forms = dict(self.loaded["state"]["dict"]).items()
                shapes = {name: torch.empty(form["shape"], device="meta") for name, form in forms}
                fit_buffers(found, {self.names[name]: shape for name, shape in shapes.items() if name in self.names})
            self._begin_with(found)
        return {"there": found is not None}

    def on_operators(self, _: Message) -> Message:
        """Do torch's operators still call what they called before the candidate came?"""
        changed = [name for name, calls in operators().items() if self.operators.get(name, calls) != calls]
        if changed:
            raise Refused("tampered", "changed " + ", ".join(changed[:5]))
        return {}

    def on_lend(self, request: Message) -> Message:
        """Memory for weights to come: by the names that the reference has for them."""
        self.lent = {name: make(form) for name, form in request["state"]["dict"]}
        self.lent_bytes = sum(tensor.nbytes for tensor in self.lent.values())
        return {"places": [self.device.place(span_of(tensor)) for tensor in self.lent.values()]}

    def on_state(self, request: Message) -> Message:
        """The weights that were lent become the module's: `load` copies them in as load_state_dict does, `assign` puts new
        tensors in the old ones' place, `write` changes the old ones where they lie, unnoticed by their version counters."""
        assert self.model is not None
        lent, self.lent = self.lent, {}
        try:
            if request["how"] == "load":
                load_weights(self.model, lent, self.names)
            else:
                assign(self.model, lent, self.names, in_place=request["how"] == "write")
        except (Exception, SystemExit) as error:
            raise Refused(*classify(error, "raised", self.file)) from error
        self.device.synchronize()
        return {}

    def on_arm(self, request: Message) -> Message:
        """Memory for the arguments of the call to come. `state`: entries whose places the answer to `go` tells."""
        assert self.model is not None
        self.reported = entries_of(self.model, {name: self.names.get(name, name) for name in request["state"]})
        places = self.stopwatch.arm(
            request["form"],
            request["same_addresses"],
            request["hold"],
            request.get("keep", False),
            request.get("drop", 0),
        )
        self.device.poison(request["poison"], sum(place["bytes"] for place in places))
        if request["clean"]:
            self.device.clean()
        return {"places": places}

    def on_wake(self, request: Message) -> Message:
        """Ready for a call. Whose time does not count has it easier on a CPU; what is launched on a GPU must come quickly, so that
        it meets arguments that come late."""
        prepared = request["timed"] or self.device.name != "cpu"
        try:
            if prepared:
                self.stopwatch.rehearse(self.called, bool(self.reported))
        except (Exception, SystemExit) as error:
            raise Refused(*classify(error, "raised", self.file)) from error
        self.device.ready()
        if prepared:
            self.device.wake()
        return {}

    def on_go(self, request: Message) -> Message:
        watch = self.stopwatch
        try:
            with elsewhere(request.get("where"), watch.places):
                elapsed = watch.go(self.called, request["values"], request["seed"], request["late"])
        except (Exception, SystemExit) as error:
            self.device.poison(False)
            raise Refused(*classify(error, "raised", self.file)) from error
        value = watch.held[-1]
        if why := outputs.lazy(value):
            raise Refused("lazy-output", why)
        watch.hold()
        if watch.early:
            raise Refused("background-work", "the caller's stream does not wait for the result")
        try:
            if (request.get("where") or {}).get("gradients"):
                value = watch.held[-1] = outputs.detached(value)
            state = [[name, watch.described(table[key])] for name, (table, key) in self.reported.items()]
            return {"ns": elapsed, "results": {"list": [watch.described(value), {"dict": state}]}}
        except FormError as error:
            raise Refused("wrong-shape", str(error)) from error

    def on_overwrite(self, _: Message) -> Message:
        """The caller writes to the last result, which is its own."""
        with torch.inference_mode():  # where all may be written to
            for tensor in outputs.tensors(self.stopwatch.held[-1]):
                tensor.data.zero_()
        return {}

    def on_after(self, _: Message) -> Message:
        """What the call left behind: where the module's state lies, and torch's generator."""
        assert self.model is not None
        self.device.poison(False)
        entries = entries_of(self.model, self.names)
        state = [[name, self.stopwatch.described(table[key])] for name, (table, key) in entries.items()]
        for name, drawn in other_random_states().items():
            if drawn != self.drawn.setdefault(name, drawn):
                raise Refused("state-differs", f"the random state of {name} is not what it was before the call")
        return {"state": {"dict": state}, "random_state": digest(random_state())}

    @property
    def called(self) -> Callable[..., Any]:
        """The candidate, to be called with a draw's arguments."""
        assert self.model is not None
        return by_place(self.model, self.loaded["by_name"])

    def call(self, arguments: list[Any]) -> Any:
        """One call that nobody times; what it raises becomes a reason."""
        assert self.model is not None
        try:
            result = self.called(*arguments)
            self.device.synchronize()
            return result
        except Refused:
            raise
        except (Exception, SystemExit) as error:
            raise Refused(*classify(error, "raised", self.file)) from error

    def on_profile(self, request: Message) -> Message:
        arguments = self.stopwatch.arguments(request["values"])
        if self.device.name == "cpu":
            return profile_call(lambda: self.call(arguments), self.device)
        own = unplug.triton_names(sys.modules["candidate"]) | unplug.cuda_names(self.file.read_text(errors="replace"))
        found = profile_kernels(lambda: self.call(arguments), self.device, own)
        return {**found, "claims": bool(own)}

    def on_ahead(self, request: Message) -> Message:
        """Compiles what one call would launch for GPUs that are not here. Nothing is launched."""
        assert self.model is not None
        model, arguments = self.called, self.stopwatch.arguments(request["values"])
        try:
            launches = ahead.recorded(lambda: model(*arguments))
        except Exception as error:
            raise Refused(*classify(error, "raised", self.file)) from error
        failure, kernels = "", {launch[0].fn.__name__ for launch in launches}
        for launch in launches:
            for capability in CAPABILITIES:
                try:
                    ahead.compile_for(launch, capability)
                except Exception as error:  # whatever the compiler raises is the answer
                    failure = failure or f"{launch[0].fn.__name__} for sm_{capability}: {str(error).strip()[:300]}"
        names = ", ".join(f"sm_{capability}" for capability in CAPABILITIES)
        return {"kernels": len(kernels), "compiled_for": names, "failure": failure}

    def on_compile(self, request: Message) -> Message:
        """Compiles what a call launches, and launches nothing: for the candidate's other processes, and for this one once the
        candidate is loaded again. Its arguments are zeros. Whatever goes wrong here is met again there."""
        assert self.model is not None
        if unplug.triton_names(sys.modules["candidate"]):  # Triton's driver alone would pass for a kernel of theirs
            scalars, model = iter(request["values"]), self.called
            arguments = rebuilt(request["form"], lambda one: make(one).zero_(), lambda _: scalar_of(next(scalars)))
            try:
                ahead.compile_ahead(lambda: model(*arguments), ahead.workers_for(request["workers"]))
            except Exception as error:
                raise Refused(*classify(error, "raised", self.file)) from error
            self.device.synchronize()
            del model, arguments
        self.model = None
        del sys.modules["candidate"]
        gc.collect()  # what the file keeps, too: this guest may wait, and others need the memory
        torch.cuda.empty_cache()
        return {}

    def on_ghost(self, _: Message) -> Message:
        """From now on the file's own kernels do nothing. In a new process: what it captures or keeps was never computed. Asked
        again: how many launches were met, where that is known."""
        if self.unplugged is not None:
            return {"kernels": self.unplugged.met}
        if unplug.triton_names(sys.modules["candidate"]):
            unplug.TritonLaunches().pull()
        elif unplug.cuda_names(self.file.read_text(errors="replace")):
            self.unplugged = unplug.DriverLaunches()
            self.unplugged.pull()
        else:
            return {"kernels": 0}
        return {"kernels": 1}


def broken(op: str, error: Exception) -> Message:
    """Our own fault, or the candidate's doing to us: either way it is said, and the candidate is not certified."""
    return {"fail": "crashed", "message": f"the judge's runner failed at {op!r}: {first_line(error)}"}


def main(line: Line, parts: list[str], device: str, known: Operators) -> None:
    """The guest's life: answer the judge until it closes the line."""
    sys.dont_write_bytecode = True
    tempfile.tempdir = os.environ.get("TMPDIR")
    faulthandler.register(signal.SIGUSR2)  # who waits in vain for an answer asks where we are (keeper/stuck.py)
    runner = Runner(parts, device, known)
    serve(line, runner.handle, ("wake",) if device != "cpu" else ())
