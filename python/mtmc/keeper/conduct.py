"""One call of a process that is not believed, seen from outside: it stands still while its arguments are put into its memory,
the clock runs from the byte that releases it until it stands still again, and what it returned is read where it lies.

    ready     it makes memory for the arguments, gets ready, and is stopped         -> its places
    release   (the values are put there;) it goes on, answers, and is stopped       -> its answer, the time, what was read
    proceed   it goes on

Candidates and rivals are conducted by this same code. On a GPU the referee puts and reads the values between these steps.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any, Protocol

import torch

from mtmc.device import kernel_calls
from mtmc.device.device import Cpu
from mtmc.keeper.reach import ReachError, at_work, erase, mapped, own_code, owners, put, same, stands_still, take
from mtmc.keeper.starter import Starter, send
from mtmc.wire.forms import ARGUMENTS, FormError, checked, in_a_row, offsets, span_bytes, tensors_of
from mtmc.wire.line import Message

SCRATCH_BYTES = 1 << 22
STEP_SECONDS = 3e-5  # at least, on average, between two glimpses of its work
LOOK_SECONDS = 2e-5  # between two looks whether all stand still
STILL_SECONDS = 5.0  # until every thread of a stopped process stands still


class Player(Protocol):
    """Who is conducted."""

    def pid(self) -> int:
        """The process whose memory is meant."""

    def tree(self) -> list[int]:
        """It and all that descends from it."""

    def tell(self, request: Message) -> None:
        """Sends a request. OSError when it is gone."""

    def has_spoken(self) -> bool:
        """Can something be read from it?"""

    def unasked(self) -> Message | None:
        """How it ended, where it has said something that nobody asked for; it says nothing else while it stands still."""

    def call(self, request: Message, timeout: float) -> Message:
        """Sends one and waits: {"reply", ...} or how it died."""

    def answer(self, start: float, timeout: float, halt: Callable[[], None]) -> Message:
        """Waits for the answer to what was sent at `start`; `halt` stops it before the time is taken."""

    def end_because(self, reason: str, detail: str) -> Message:
        """Ends it; how it died."""


class Conductor:
    def __init__(self, player: Player, draws: int, starter: Starter) -> None:
        """`draws`: descriptor of the folder below which arguments lie, -1 where they never pass through us."""
        self.player, self.draws, self.starter = player, draws, starter
        self.device = Cpu()  # whose caches are swept
        self.source: list[torch.Tensor] = []  # what was put into the places
        self.scratch = torch.empty(SCRATCH_BYTES, dtype=torch.uint8)
        self.stopped: list[int] = []
        self.known: list[int] = []  # its processes when it was stopped last
        self.places: list[tuple[int, int]] = []  # address and size of each argument
        self.resumed_ns = 0.0  # processor time of the tree when it last went on
        self.timed = True  # may the time of the call to come count? Not where memory holds a pattern

    def begin(self) -> None:
        """Another process is conducted from now on."""
        self.source, self.places, self.stopped, self.known, self.resumed_ns = [], [], [], [], 0.0

    def ready(self, request: Message) -> Message:
        """Processor time: `kept_ms` since the last call's end, `busy_ms` for getting ready for this one, `woken_ms` of that for what
        may be a call that nobody times (Stopwatch.rehearse)."""
        self.known = self.known or self.player.tree()
        before = self._processor_ns()
        self.timed = not request["arm"].get("poison", False)
        for step in ({**request["arm"], "op": "arm"}, {"op": "wake", "timed": self.timed}):
            told = self.player.call(step, request["timeout"])
            if "reply" not in told or "fail" in told["reply"]:
                return told
            if step["op"] == "arm":
                reply, armed = told["reply"], self._processor_ns()
        self._stop()
        if (places := self._places(reply)) is None:
            return self.player.end_because("tampered", "its arguments lie nowhere")
        self.places = places
        kept = max(0.0, before - self.resumed_ns) / 1e6 if self.resumed_ns else 0.0
        spent = self._processor_ns()  # as Linux tells it, it goes on only when a thread stops running
        busy, woken = (max(0.0, spent - since) / 1e6 for since in (before, armed))
        return {"reply": reply, "busy_ms": busy, "kept_ms": kept, "woken_ms": woken}

    @staticmethod
    def _is_place(place: Any) -> bool:
        return isinstance(place, dict) and all(type(place.get(k)) is int and place[k] >= 0 for k in ("at", "bytes"))

    def lend(self, request: Message) -> Message:
        """Asks for memory (`step`) and puts values there, outside of any call. `stay`: somebody else will put them there."""
        told = self.player.call(request["step"], request["timeout"])
        if "reply" not in told or "fail" in told["reply"]:
            return told
        self._stop()
        if (places := self._places(told["reply"])) is None:
            return self.player.end_because("tampered", "its values lie nowhere")
        self.places = places
        if "fill" in request and (failed := self._fill(request["fill"])):
            return failed
        if not request.get("stay"):
            self.proceed()
        return told

    def _places(self, reply: Message) -> list[tuple[int, int]] | None:
        found = reply.get("places")
        if not isinstance(found, list) or not all(self._is_place(place) for place in found):
            return None
        return [(place["at"], place["bytes"]) for place in found]

    def _fill(self, name: str) -> Message | None:
        """How it ended, where that cannot be."""
        try:
            self.source = self._sources(name, self.places)
            for (address, _), values in zip(self.places, self.source, strict=True):
                put(self.player.pid(), address, values)
        except (ReachError, ValueError) as error:
            return self.player.end_because("tampered", f"its arguments cannot be put in their place: {error}")
        return None

    def release(self, request: Message) -> Message:
        """`fill`: the file of the arguments, below `draws`; `out`: where the results are written, of `most_bytes` at most, when
        they shall be read; `stay`: it stands still afterwards. `wall_ms`: from the byte that releases it until it stands still;
        `processor_ms`: of its tree, meanwhile; `glimpses`: it is stopped so often, to see where it works; `modified`: the arguments that
        are not what was put there (only where results are read); what those of them that were `written` to hold by now is put
        into a file of its own, ARGUMENTS behind its name."""
        if told := self.player.unasked():
            return told
        self.source = []
        if "fill" in request:
            if failed := self._fill(request["fill"]):
                return failed
            if self.timed:
                self.device.flush()
        # On a GPU, too: a short call lasts as long as its thread takes to ask for it.
        start_them = self.starter.arrange(self.stopped)
        before, start = self._processor_ns(), time.perf_counter()
        try:
            self.player.tell({**request["go"], "op": "go"})
        except OSError:
            pass  # `answer` finds out how it ended
        pids = self._go_on(start_them)
        seen = self._glimpses(**request["glimpses"]) if "glimpses" in request else {}

        def halt() -> None:
            self.starter.settle()  # else whoever goes on late would do so behind the time that is taken
            send(pids, signal.SIGSTOP)

        answer = self.player.answer(start, request["timeout"], halt)
        self.starter.settle()
        if "reply" not in answer:
            return answer
        answer |= seen
        self._stop()
        answer["processor_ms"] = max(0.0, self._processor_ns() - before) / 1e6
        if "fail" not in answer["reply"] and request.get("out"):
            answer |= self._read(answer["reply"].get("results"), request)
        if not request.get("stay") or "fail" in answer["reply"]:
            self.proceed()
        return answer

    def _glimpses(self, most: int, folders: list[str], seconds: float) -> Message:
        """Stops it again and again in the middle of a call: how many of its threads are in code of its own, and in libraries that
        compute? Spread over so many seconds, else what comes late in a long call is never seen."""
        found = {"own": 0, "library": 0}
        step = max(STEP_SECONDS, seconds / most)
        kernel_calls.prctl(kernel_calls.SET_TIMERSLACK, 1)
        for _ in range(most):
            time.sleep(random.uniform(0, 2 * step))  # it may share our core: who has slept is let in before it
            if self.player.has_spoken():
                break
            send(self.known, signal.SIGSTOP)  # at once: to find out who else is there takes as long as a short call
            self.starter.settle()
            self._stop()
            places = [place for pid, place in at_work(self.player.tree()) if pid == self.player.pid()]
            own, library = owners(self.player.pid(), places, folders)
            found = {"own": found["own"] + own, "library": found["library"] + library}
            self._go_on(self.starter.arrange(self.stopped))
        kernel_calls.prctl(kernel_calls.SET_TIMERSLACK, kernel_calls.USUAL_TIMERSLACK)
        return found

    def proceed(self, _: Message | None = None) -> Message:
        self.resumed_ns = self._processor_ns()
        self._go_on()
        return {"ok": True}

    def halt(self, request: Message) -> Message:
        """It stands `still` while somebody else is timed, whose cores it could keep busy, or goes on: what it works counts on."""
        if request["still"]:
            self._stop()
        else:
            self._go_on()
        return {"ok": True}

    def look(self, request: Message) -> Message:
        """Reads what a form describes into the file `out`."""
        self._stop()
        found = self._read(request["form"], request)
        if not request.get("stay"):
            self.proceed()
        return found

    def reread(self, request: Message) -> Message:
        """Do the results that were read into a file lie there unchanged? `without`: which tensors may change; `stay`: if they do, it
        stands still afterwards."""
        forms = tensors_of(checked(request["form"], request["most_bytes"]))
        starts, end = offsets(forms)
        self._stop()
        descriptor, alike = os.open(request["out"], os.O_RDWR | os.O_NOFOLLOW), False
        try:
            memory = mapped(descriptor, end)
            rows = zip(forms, starts, request["without"], strict=True)
            held = [(form, at) for form, at, free in rows if not free]
            alike = all(self._same(form["at"], memory[at : at + span_bytes(form)]) for form, at in held)
        except ReachError:
            pass
        finally:
            os.close(descriptor)
            if not (alike and request.get("stay")):
                self.proceed()
        return {"same": alike}

    def unlike(self, request: Message) -> Message:
        """Which of these `places` of an earlier call's arguments do not hold what was put there from the file `fill`?"""
        self._stop()
        places = self._places(request) or []
        try:
            rows = enumerate(zip(places, self._sources(request["fill"], places), strict=True))
            changed = [index for index, ((address, _), values) in rows if not self._same(address, values)]
        except ReachError:
            changed = list(range(len(places)))
        self.proceed()
        return {"modified": changed}

    def unplug(self, request: Message) -> Message:
        """How many native libraries that lie in these folders, or in memory only, are loaded; `pull`: from now on all that they do
        is return."""
        self._stop()
        found = own_code(self.player.pid(), request["folders"])
        if request["pull"]:
            erase(self.player.pid(), found)
        self.proceed()
        return {"kernels": len(found)}

    def _same(self, address: int, source: torch.Tensor) -> bool:
        return same(self.player.pid(), address, source, self.scratch)

    def _sources(self, name: str, places: list[tuple[int, int]]) -> list[torch.Tensor]:
        sizes = [size for _, size in places]
        starts, end = in_a_row(sizes)
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.draws)
        try:
            if os.fstat(descriptor).st_size != end:
                raise ValueError(f"{end} bytes instead of {os.fstat(descriptor).st_size}")
            memory = mapped(descriptor, end)
        finally:
            os.close(descriptor)
        return [memory[at : at + size] for at, size in zip(starts, sizes, strict=True)]

    def _read(self, form: Any, request: Message) -> Message:
        try:
            forms = tensors_of(checked(form, request["most_bytes"]))
            if not all(type(one.get("at")) is int for one in forms):
                raise FormError("a result without an address")
        except FormError as error:
            return {"unreadable": str(error)}
        try:
            self._take([(one["at"], span_bytes(one)) for one in forms], request["out"])
            written = [self.places[number] for number in request.get("written", []) if number < len(self.places)]
            if written:  # who told of fewer places is found out: the file is too short
                self._take(written, request["out"] + ARGUMENTS)
            rows = enumerate(zip(self.places, self.source, strict=False))
            modified = [index for index, ((address, _), values) in rows if not self._same(address, values)]
        except ReachError as error:
            return {"unreadable": str(error)}
        return {"modified": modified}

    def _take(self, spans: list[tuple[int, int]], out: str) -> None:
        """Reads these spans of its memory into a new file."""
        starts, end = in_a_row([size for _, size in spans])
        with contextlib.suppress(FileNotFoundError):
            os.unlink(out)  # an earlier candidate's, which somebody may still look at
        descriptor = os.open(out, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(descriptor, end)
            memory = mapped(descriptor, end, writes=True)
            for (address, size), at in zip(spans, starts, strict=True):
                take(self.player.pid(), address, memory[at : at + size])
        finally:
            os.close(descriptor)

    def _processor_ns(self) -> float:
        """Of the processes that are known: what was started since shows when they are stopped the next time."""
        return sum(map(processor_ns, self.known))

    def _stop(self) -> None:
        """All of the tree, what was started meanwhile included, stands still. Who does not is ended: nothing that it does later
        can be seen."""
        until = time.perf_counter() + STILL_SECONDS
        while time.perf_counter() < until:
            tree = self.player.tree()
            new = [pid for pid in tree if pid not in self.stopped]
            # One of several might make another one go on that was seen to stand still.
            if not new and (len(self.stopped) == 1 or all(stands_still(self.stopped) for _ in range(2))):
                return
            # Who was stopped goes on with the others, whatever of the tree is seen now: on a machine of many processes what
            # /proc says of children may leave one out while another ends.
            self.stopped = self.known = [*self.stopped, *new]
            send(self.stopped, signal.SIGSTOP)
            while not stands_still(self.stopped) and time.perf_counter() < until:
                time.sleep(LOOK_SECONDS)  # who shall stop may be waiting for our core
        send(self.stopped, signal.SIGKILL)

    def _go_on(self, start_them: Callable[[], None] | None = None) -> list[int]:
        """Which processes do so."""
        pids, self.stopped = self.stopped, []
        if start_them:
            start_them()
        else:
            send(pids, signal.SIGCONT)
        return pids


def processor_ns(pid: int) -> float:
    """Processor time of a process since it began, of threads that have ended, too (clock_getcpuclockid(3))."""
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return 0  # it has ended
