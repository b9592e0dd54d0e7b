"""Runs one candidate inside its locked room: what the guest that the zygote forks executes.

Whatever is answered from here is only data: results are compared by the referee, times are checked against the zygote's
clock, and decisions are made by the judge.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from mtmc import ahead, blobs, outputs, unplug
from mtmc.audit import Audit
from mtmc.candidate import Refused, State, construct, give_weights, import_candidate, load_weights, state_of
from mtmc.cuda import DeviceError
from mtmc.device import device_named, random_state, release, seed_all
from mtmc.failures import classify
from mtmc.foreign import digest_of
from mtmc.profile import profile_call, profile_kernels
from mtmc.stopwatch import Stopwatch, overwrite
from mtmc.tamper import Snapshot
from mtmc.wire import Line, Message, serve

CAPABILITIES = (80, 90, 100)  # of the GPUs that kernels are compiled for where there is none
LEAST_DELAY, MOST_DELAY = 0.001, 0.02  # seconds; a first call may take far longer, and compiles
TIMED = ("wake", "go")  # requests after which nothing else may be done at once
# Those of timed rounds: what one leaves in torch's allocator, the next one uses.
ROUND = ("arm", "hello", *TIMED, "keep")


def state_digest(values: State) -> dict[str, str]:
    return {name: blobs.digest(value) for name, value in values.items()}


class Runner:
    # A candidate that walks up the stack to us, or to our tools, can hide no method behind an attribute.
    __slots__ = (
        *("parts", "device", "stopwatch", "audit", "snapshot", "changes", "clock", "release"),
        *("model", "file", "names", "last"),
    )

    def __init__(self, parts: list[str], device: str) -> None:
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
        self.clock, self.release = time.perf_counter, release  # bound, as above
        self.last = 0.0  # seconds for which the last call kept the host

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
        except (
            RuntimeError
        ) as error:  # ours fail on the GPU for what the candidate did to it: memory, or an earlier kernel
            reason, message = classify(error, "", self.file)
            if not reason or self.device.name == "cpu":
                raise
            reply = {"fail": reason, "message": message}
        if self.audit is not None and self.audit.found:
            reason, detail = self.audit.found[0]
            reply = {"fail": reason, "message": detail}
        elif check is not None and "fail" not in reply:
            changes = [] if request["op"] in TIMED else check()
            if self.changes is not check:
                changes.append("Runner.changes")
            if changes:
                reply = {"fail": "tampered", "message": "changed " + ", ".join(changes[:5])}
        if request["op"] not in ROUND and "fail" not in reply:  # after a failure the GPU may not be asked for anything
            self.release()
        return reply

    def on_hello(self, _: Message) -> Message:
        return {"parts": self.parts}

    def on_load(self, request: Message) -> Message:
        self.file = Path(request["file"])
        os.environ.update(request["environment"])
        torch.set_num_threads(request["threads"])
        torch.set_grad_enabled(False)
        if self.audit is None:  # the same candidate's may be loaded again
            self.audit = Audit(request["writable"], request["secret"])
            self.snapshot.begin()
            self.changes = self.snapshot.changes
        cls = import_candidate(self.file)
        self.model = construct(cls, Path(request["task"]), self.file, request["seed"], self.device.where)
        self.model.train(request["mode"] == "train")
        weights, self.names = give_weights(self.model, blobs.load(Path(request["state"])))
        self.device.synchronize()
        return {"weights": weights}

    def call(self, arguments: list[Any], in_order: bool = False) -> Any:
        """One call of the candidate; what it raises becomes a reason. `in_order`: the arguments get their values on the
        caller's stream only when it has been busy for a while, and the result is copied there at once: what runs beside that
        stream reads too early, or is copied too early. It is busy for twice as long as the call before kept the host."""
        assert self.model is not None
        self.device.ready()
        try:
            if in_order:
                late = [t for t in outputs.tensors(arguments) if t.numel() and not torch._debug_has_internal_overlap(t)]
                values = [t.clone() for t in late]
                for tensor in late:
                    tensor.data.zero_()
                self.device.synchronize()
                self.device.delay(min(LEAST_DELAY + 2 * self.last, MOST_DELAY))
                for tensor, value in zip(late, values, strict=True):
                    tensor.data.copy_(value)
            start = self.clock()
            result = self.model(*arguments)
            self.last = self.clock() - start
            copies = [t.clone() for t in outputs.tensors(result)] if in_order and not outputs.lazy(result) else []
            self.device.synchronize()
            if copies and blobs.digest(copies) != blobs.digest(outputs.tensors(result)):
                raise Refused("background-work", "the caller's stream does not wait for the result")
            return result
        except Refused:
            raise
        except (Exception, SystemExit) as error:
            raise Refused(*classify(error, "raised", self.file)) from error

    def own_state(self) -> State:
        """The entries that the reference has, under the reference's names."""
        assert self.model is not None
        own = state_of(self.model)
        if not all(mine in own for mine in self.names.values()):
            own = self.model.state_dict()
        return {name: own[mine] for name, mine in self.names.items()}

    def on_state(self, request: Message) -> Message:
        """Other weights: `load` copies them in, `assign` puts new tensors in the old ones' place."""
        state: State = blobs.load(Path(request["state"]))
        self._set_state(state, request["how"])
        return {}

    def _set_state(self, state: State, how: str) -> None:
        assert self.model is not None
        if how == "load":
            load_weights(self.model, state, self.names)
            return
        own = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
        for name, value in state.items():
            own[self.names[name]].data = value

    def on_run(self, request: Message) -> Message:
        """Calls the module twice on a draw, in poisoned memory, and saves what it returned and which state it changed.
        `previous`: a draw that is called first, whose arguments then take the values of the draw where they lie."""
        folder = Path(request["out"])
        arguments = blobs.load(Path(request["draw"]))
        if request.get("previous"):
            values, arguments = arguments, blobs.load(Path(request["previous"]))
            self.call(arguments)
            arguments = overwrite(arguments, values)
        if request.get("state"):
            self.on_state(request)
        given = [blobs.digest(argument) for argument in arguments]
        state = state_digest(self.own_state())
        seed_all(request["seed"])
        random_before = blobs.digest(random_state())
        self.device.poison(True, outputs.bytes_of_all(arguments))
        try:
            first = self.call(arguments, in_order=self.device.name != "cpu")
            reply = self._examine(first, arguments)
            now = save(first, folder, "0", reply)
            second = self.call(arguments, in_order=self.device.name != "cpu")  # its kernels are loaded by now
            if why := outputs.lazy(second):
                raise Refused("lazy-output", why)
            save(second, folder, "1", reply)
            random_after = blobs.digest(random_state())
            after = self.own_state()
            changed = [name for name, value in state_digest(after).items() if value != state[name]]
            save({name: after[name] for name in changed}, folder, "state", reply)
            repeats = not changed and random_after == random_before  # the same call again must give the same answer
            for index in range(2, request["calls"] if repeats else 2):
                again = self.call(arguments)
                if digest_of(again, folder) != now:
                    save(again, folder, "1", reply)  # the one that differs is the one to measure
                    reply["differs_at"] = index
        finally:
            self.device.poison(False)
        time.sleep(0.001)
        reply["reused"] = outputs.overlaps(outputs.tensors(first), outputs.tensors(second))
        reply["written_later"] = not reply["reused"] and digest_of(first, folder) != now
        reply["modified"] = [i for i, argument in enumerate(arguments) if blobs.digest(argument) != given[i]]
        return {**reply, "changed_state": changed, "random_state": random_after}

    def _examine(self, value: Any, arguments: list[Any]) -> Message:
        if why := outputs.lazy(value):
            raise Refused("lazy-output", why)
        assert self.model is not None
        mine = [*outputs.tensors(arguments), *self.model.parameters(), *self.model.buffers()]
        return {
            "aliases": outputs.overlaps(outputs.tensors(value), mine),
            "overlapping": outputs.self_overlapping(value),
            "device": [str(tensor.device) for tensor in outputs.tensors(value)],
        }

    def on_arm(self, request: Message) -> Message:
        self.stopwatch.arm(Path(request["draw"]), request["seed"], request["same_addresses"])
        return {}

    def on_wake(self, _: Message) -> Message:
        assert self.model is not None
        self.device.wake()
        try:
            self.stopwatch.rehearse(self.model)
        except (Exception, SystemExit) as error:
            raise Refused(*classify(error, "raised", self.file)) from error
        return {}

    def on_go(self, _: Message) -> Message:
        assert self.model is not None
        try:
            return {"ns": self.stopwatch.go(self.model)}
        except (Exception, SystemExit) as error:
            raise Refused(*classify(error, "raised", self.file)) from error

    def on_keep(self, request: Message) -> Message:
        """Saves the result of the call just timed, which is held to all that other calls are held to."""
        watch = self.stopwatch
        assert watch.arguments is not None
        reply = self._examine(watch.result, watch.arguments)
        save(watch.result, Path(request["out"]), "0", reply)
        # After the saving: what is written until then counts as late, what is written from now on is not in the file.
        reply["written_later"], reply["reused"] = watch.written_later(), watch.reused()
        pairs = zip(watch.arguments, watch.load(Path(request["draw"])), strict=True)
        reply["modified"] = [i for i, (now, given) in enumerate(pairs) if blobs.digest(now) != blobs.digest(given)]
        return reply

    def on_profile(self, request: Message) -> Message:
        arguments = blobs.load(Path(request["draw"]))
        if self.device.name == "cpu":
            return profile_call(lambda: self.call(arguments), self.device)
        own, text = unplug.triton_names(sys.modules["candidate"]), self.file.read_text(errors="replace")
        found = profile_kernels(lambda: self.call(arguments), self.device, own, text)
        return {**found, "claims": bool(own)}

    def on_unplug(self, request: Message) -> Message:
        """Which of the file's own kernels have its calls loaded? `pull`: does the answer change when they do nothing? The
        module is useless afterwards."""
        plugs = unplug.own_kernels(request["writable"])
        claims = unplug.claims_kernels(self.file.read_text(errors="replace"))
        if not plugs or not request["pull"]:
            return {"kernels": len(plugs), "claims": claims, "changed": True}
        arguments = blobs.load(Path(request["draw"]))
        self.device.poison(True, outputs.bytes_of_all(arguments))
        seed_all(request["seed"])
        before = blobs.digest(self.call(arguments))
        for plug in plugs:
            plug.pull()
        seed_all(request["seed"])
        try:
            changed = blobs.digest(self.call(arguments)) != before
        except Refused:
            changed = True
        return {"kernels": len(plugs), "claims": claims, "changed": changed}

    def on_ahead(self, request: Message) -> Message:
        """Compiles what one call would launch for GPUs that are not here. Nothing is launched."""
        assert self.model is not None
        model, arguments = self.model, blobs.load(Path(request["draw"]))
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
        candidate is loaded again. Whatever goes wrong here is met again there."""
        assert self.model is not None
        if unplug.triton_names(sys.modules["candidate"]):  # Triton's driver alone would pass for a kernel of theirs
            model, arguments = self.model, blobs.load(Path(request["draw"]))
            ahead.compile_only(lambda: model(*arguments), ahead.workers_for(request["workers"]))
            self.device.synchronize()
            del model, arguments
        self.model = None
        del sys.modules["candidate"]
        gc.collect()  # what the file keeps, too: this guest may wait, and others need the memory
        torch.cuda.empty_cache()
        return {}

    def on_ghost(self, request: Message) -> Message:
        """The first call of a new process, with the file's own Triton kernels unplugged: what it captures or keeps was
        never computed. Its answer is measured as any other's."""
        if not unplug.triton_names(sys.modules["candidate"]):
            return {"kernels": 0}
        unplug.TritonLaunches().pull()
        seed_all(request["seed"])
        arguments = blobs.load(Path(request["draw"]))
        self.device.poison(True, outputs.bytes_of_all(arguments))
        value = self.call(arguments)
        if why := outputs.lazy(value):
            raise Refused("lazy-output", why)
        reply: Message = {"kernels": 1}
        save(value, Path(request["out"]), "0", reply)
        return reply


def save(value: Any, folder: Path, name: str, reply: Message) -> str:
    """Saves what the referee will measure, and says in the reply what it was: the candidate may write to the file, too.
    What lies there already under another name, as most second results do, is not saved again."""
    digests, digest = reply.setdefault("digests", {}), digest_of(value, folder)
    if digest not in digests.values():
        blobs.save(value, folder / name)
    digests[name] = digest
    return digest


def main(line: Line, parts: list[str], device: str) -> None:
    """The guest's life: answer the judge until it closes the line."""
    sys.dont_write_bytecode = True
    tempfile.tempdir = os.environ.get("TMPDIR")
    runner = Runner(parts, device)
    serve(line, runner.handle, ("wake",) if device != "cpu" else ())
