"""Golden code and a candidate of suite G at the benchmark's performance sizes, timed call by call beside each other: two guests, each in
a room of its own, which draw the same arguments from the same seeds. docs/TRITONBENCH.md says what of it is believed."""

from __future__ import annotations

import math
import os
import random
import select
import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtmc.device.turn import turn
from mtmc.keeper.sandbox import Guest
from mtmc.tritonbench.instructed import difference_of_kept, task_on, tells
from mtmc.tritonbench.performance import TIMING, script_of, spread
from mtmc.tritonbench.room import Kept, end, in_room, read, within
from mtmc.tritonbench.sized import Sized
from mtmc.tritonbench.task_file import SEPARATOR, on_cpu
from mtmc.wire.line import Message, serve
from mtmc.wire.task_error import TaskError, first_line

STEP_SECONDS = 120.0  # for one of a guest's steps, such as a call that compiles and tunes
ROUNDS, LEAST_ROUNDS, SECONDS = 21, 5, 15.0  # of a size
TRIES = 3  # until a clock is held to be wrong: a busy machine may part two honest ones
# How far a candidate's clock may stay behind ours, beyond what the golden one's does: ms, or a part of its time, or so many times
# what the golden one's varies by.
APART_MS, APART_SHARE, APART_SPREADS = 0.2, 0.1, 4.0
FIRST, ROUND = 1, 2  # seeds: of the comparison before anything is timed, of the rounds


class Failed(Exception):
    def __init__(self, player: Player, why: str) -> None:
        self.player = player
        super().__init__(why)


class Player:
    """A script that makes its calls in a room, step by step. After a failure it is begun anew: what is left of a GPU may be no use."""

    def __init__(self, begin: Callable[[], Guest], results: Path) -> None:
        self.begin, self.results = begin, results
        self.guest: Guest | None = None

    def ready(self) -> None:
        if self.guest is None:
            self.guest = self.begin()
            self.ask("load")

    def ask(self, op: str, **more: Any) -> Message:
        assert self.guest is not None
        line, why = self.guest.line, ""
        try:
            if line.complete() or select.select([line.incoming], [], [], 0)[0]:
                why = "it ended, or speaks unasked"
            else:
                line.send({"op": op, **more})
                reply = within(line, STEP_SECONDS)
                why = "it ended" if reply is None else str(reply.get("failed", ""))
        except TimeoutError as error:
            why = str(error)
        except OSError:
            why = "it ended"
        if why:
            raise self.failed(why)
        assert reply is not None
        return reply

    def failed(self, why: str) -> Failed:
        self.leave()
        return Failed(self, why)

    def call(self, place: int, seed: int) -> tuple[float, float]:
        """One call that is timed: ms by its own clock and by ours."""
        self.ask("arm", place=place, seed=seed)
        start = time.perf_counter_ns()
        told = self.ask("go").get("ns")
        seen = time.perf_counter_ns() - start
        if type(told) is not int or told <= 0:
            raise self.failed("it does not say how long its call took")
        return told / 1e6, seen / 1e6

    def gave(self, changed: list[int]) -> Kept:
        """What its last call gave, with what these arguments hold by now."""
        self.ask("keep", changed=changed)
        try:
            return read(self.results)
        except Exception as error:  # anybody may have written it
            raise self.failed(f"what its call gave cannot be read: {first_line(error)}") from error

    def leave(self) -> None:
        if self.guest is not None:
            end(self.guest)
            for descriptor in {self.guest.line.incoming, self.guest.line.outgoing}:
                os.close(descriptor)
            self.guest = None


def measure(
    file: Path, folder: Path, device: str, sizes: dict[str, Any], code: str | None, hidden: list[str]
) -> dict[str, Any]:
    """`sizes`: {file, each, largest}, see performance.py; `code`: none is the golden code, which is timed beside itself. {places, left_out: which
    sizes; untimed: why none is, or ""; measured: see `at_place`}"""
    found: dict[str, Any] = {"places": [], "left_out": "", "untimed": "", "measured": []}
    # Who is forked from here has our memory: golden code is read when its own guest begins, and not kept.
    bare = replace(task_on(file, device), golden="")
    try:
        script = script_of(bare, Path(sizes["file"]), TIMING)
    except TaskError as error:
        return found | {"untimed": error.message()}
    bare = replace(bare, tests=on_cpu(script) if device == "cpu" else script)

    def player(name: str, code_of: Callable[[], str], hidden: list[str]) -> Player:
        own = folder / name
        own.mkdir(parents=True, exist_ok=True)

        def begin() -> Guest:
            text, script, results = code_of(), own / "script.py", own / "kept.pt"
            script.write_text(f"{text}\n{SEPARATOR}\n{bare.tests}")
            return in_room(
                own, device, hidden, lambda line: serve(line, Sized(bare, text, script, results, device).handle)
            )

        return Player(begin, own / "kept.pt")

    def golden_code() -> str:
        return task_on(file, device).golden

    golden = player("golden", golden_code, hidden)
    written = golden_code if code is None else lambda: on_cpu(code) if device == "cpu" else code
    candidate = player("candidate", written, [*hidden, str(folder / "golden")])
    try:
        golden.ready()
        found |= places_of(golden.ask("sizes"), sizes["each"], sizes["largest"])
        found["measured"] = [at_place(golden, candidate, place) for place in found["places"]]
    except Failed as error:
        found["untimed"] = f"its sizes cannot be listed: {error}"
    finally:
        golden.leave()
        candidate.leave()
        shutil.rmtree(folder / "golden")
    return found


def places_of(listed: Message, each: int, largest: int) -> dict[str, Any]:
    """`each` of the sizes whose arguments are not too large, spread evenly, and which were left out, in words."""
    taken, limit = listed["bytes"], largest or listed["limit"]
    fitting = [place for place, size in enumerate(taken) if size <= limit]
    places = spread(sorted(fitting, key=lambda place: taken[place]), each)
    left = len(taken) - len(fitting)
    words = f"{left} of {len(taken)} sizes, whose arguments take more than {limit:,} bytes" if left else ""
    return {"places": places, "left_out": words, "untimed": "" if places else "no size fits"}


def at_place(golden: Player, candidate: Player, place: int) -> dict[str, Any]:
    """{place; size: in words; golden_fails: why nothing can be held to the golden code at this size, or ""; reason: why the candidate's
    time does not count, or ""; golden_ms, ms, rounds; gbps, tflops: of the golden code and the candidate}"""
    found: dict[str, Any] = {"place": place, "size": "", "golden_fails": "", "reason": ""}
    found |= dict.fromkeys(("golden_ms", "ms", "rounds", "gbps", "tflops"))
    try:
        golden.ready()
        candidate.ready()  # before anything of the golden code's is in our memory
        first = golden.ask("warm", place=place, seed=0)
        found["size"], changed = first["size"], first["changed"]
        golden.call(place, FIRST)
        wanted = golden.gave(changed)
        golden.call(place, FIRST)
        if not tells(wanted):
            return found | {"golden_fails": "its call gives nothing that could be right or wrong"}
        if difference := difference_of_kept(wanted, golden.gave(changed)):
            return found | {"golden_fails": f"it differs from itself: {difference}"}
        written = candidate.ask("warm", place=place, seed=0).get("changed")
        if written != changed:
            return found | {"reason": f"the arguments written to: {written} instead of {changed}"}
        candidate.call(place, FIRST)
        if difference := difference_of_kept(wanted, candidate.gave(changed)):
            return found | {"reason": difference}
        del wanted
        for number in range(TRIES):
            found |= timed(golden, candidate, place, changed, ROUND + number * ROUNDS)
            if not found["apart"] or found["reason"]:
                break
        found["reason"] = found["reason"] or found["apart"]
        if not found["reason"]:
            rates = golden.ask("figures", ms=[found["golden_ms"], found["ms"]])
            found |= {name: [rate if math.isfinite(rate) else None for rate in rates[name]] for name in rates}
    except Failed as error:
        found["golden_fails" if error.player is golden else "reason"] = str(error)
    found.pop("apart", None)
    return found


def timed(golden: Player, candidate: Player, place: int, changed: list[int], seed: int) -> dict[str, Any]:
    """{golden_ms, ms: medians of single calls; rounds; reason: the first difference in a round that nobody foretells, or ""; apart: what is
    wrong with the candidate's clock, or ""}"""
    rounds, compared = ROUNDS, 0
    own: dict[Player, list[float]] = {golden: [], candidate: []}
    gaps: dict[Player, list[float]] = {golden: [], candidate: []}
    number = 0
    while number < rounds:
        with turn(alone=True):
            since = time.monotonic()
            for player in (golden, candidate) if number % 2 == 0 else (candidate, golden):
                told, seen = player.call(place, seed + number)
                own[player].append(told)
                gaps[player].append(seen - told)
            took = time.monotonic() - since
        if number == 0:
            rounds = max(LEAST_ROUNDS, min(ROUNDS, int(SECONDS / took)))
            compared = random.randrange(rounds)
        if number == compared and (difference := difference_of_kept(golden.gave(changed), candidate.gave(changed))):
            return {"reason": difference, "apart": ""}
        number += 1
    golden_ms, ms = (statistics.median(own[player]) for player in (golden, candidate))
    return {"golden_ms": golden_ms, "ms": ms, "rounds": rounds, "apart": apart(gaps[golden], gaps[candidate], ms)}


def apart(honest: list[float], gaps: list[float], ms: float) -> str:
    """What is wrong with a clock that stays behind ours by these gaps, or ""."""
    usual = statistics.median(honest)
    varies = statistics.median(abs(gap - usual) for gap in honest)
    late = statistics.median(gaps) - usual
    if late <= max(APART_MS, APART_SHARE * ms, APART_SPREADS * varies):
        return ""
    return f"clock-mismatch: its calls last {late:.3f} ms longer than the {ms:.3f} ms that it says"
