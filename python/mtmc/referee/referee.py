"""The referee: holds the task, its truth and eager's errors, makes the draws, and measures what candidates returned.

It never runs a candidate. A request {"op": NAME, ...} is answered by the method on_NAME, which says what belongs to it.
"""

from __future__ import annotations

import gc
import math
import os
from pathlib import Path
from typing import Any

import torch

from mtmc.device import triton_seed
from mtmc.device.cuda import DeviceError
from mtmc.device.device import Device, device_named
from mtmc.device.digest import digest
from mtmc.device.memory import release
from mtmc.device.turn import away, turn
from mtmc.referee.budgets import Budgets, Draw
from mtmc.referee.draws import of_own_layout, other_kinds, seed_of, structured_kinds
from mtmc.referee.in_a_row import InARow, arguments_of
from mtmc.referee.kept_draws import KeptDraws
from mtmc.referee.lending import Lender, same_numbers
from mtmc.referee.masked import MaskedDraws
from mtmc.referee.measure import Measurement
from mtmc.referee.nulls import measure_nulls
from mtmc.referee.open_order import compare_in_order
from mtmc.referee.opening import choose_second, late_state, moving_entries, save_constructor, timed_state
from mtmc.referee.reference import Eager, EagerError, Reference, State
from mtmc.referee.sampled import Sampler
from mtmc.referee.sharing import Flags, either
from mtmc.referee.touched import nominal_bytes, touched_bytes
from mtmc.referee.truth import TruthError
from mtmc.referee.weights import NUDGED, lifted_weights, nudged_weights, turned_weights
from mtmc.referee.wrong import wrong_of
from mtmc.task.asked import Asked, imported_by
from mtmc.task.task import load_task
from mtmc.wire import blobs
from mtmc.wire.blobs import structure_of
from mtmc.wire.forms import FormError, overlap, ranges, sharing, spans
from mtmc.wire.line import REPLIES, REQUESTS, Line, Message, saying_where, serve
from mtmc.wire.outputs import bytes_of_all, self_overlapping, tensors
from mtmc.wire.plain import is_plain
from mtmc.wire.task_error import TaskError, first_cause, first_line, out_of_memory

# Of a GPU's memory: if less is free, the next task begins without what the last one has left here. The driver takes 0.3 to 3 s to take it
# back, and as long to give it again.
ENOUGH_BETWEEN = 0.5
MOST_NUDGED = 1 << 28  # bytes of weights: of larger ones there is no copy with a few other elements


class Referee:
    def __init__(self) -> None:
        self.asked = Asked()
        self.reference: Reference | None = None
        self.device: Device | None = None
        self.folder = Path()
        self.session = 0
        self.states: dict[str, State] = {}
        self.draws: KeptDraws | None = None
        self.masked: MaskedDraws | None = None
        self.lender: Lender | None = None
        self.budgets: Budgets | None = None
        self.last_try = True  # is a request refused where memory is not enough?
        self.measured: dict[str, tuple[str, list[Measurement]]] = {}  # by draw: the last result's hash, and how it was

    def handle(self, request: Message) -> Message:
        try:
            return self._answer(request)
        except TaskError as error:
            return {"error": error.to_json()}
        except (TruthError, FormError) as error:
            doing = "computing the float64 truth of the module"
            return {"error": TaskError(doing, str(error)).to_json()}
        except EagerError as error:
            return {"error": TaskError("running the module on the task's own arguments", str(error)).to_json()}
        except torch.OutOfMemoryError as error:
            return {"error": out_of_memory("computing what the module must return", error).to_json()}
        finally:
            release()

    def _answer(self, request: Message) -> Message:
        """Once more, where memory was not enough, without what is kept and can be made again."""
        handler = getattr(self, "on_" + request["op"])
        if self.lender is not None:
            self.lender.rest()
        # A mask that has been looked at would be taken for an earlier call's.
        self.last_try = self.draws is None or request["op"] == "open" or bool(request.get("own_random"))
        if self.draws is not None:
            self.draws.last_try = self.last_try
        try:
            return handler(request)
        except (torch.OutOfMemoryError, TaskError) as error:  # the latter of the user's own code, get_inputs
            if self.last_try or not isinstance(first_cause(error), torch.OutOfMemoryError):
                raise
        assert self.draws is not None
        self._drop_all()
        self.last_try = self.draws.last_try = True
        return handler(request)

    def _drop_all(self) -> None:
        """Whatever can be made again."""
        assert self.draws is not None and self.masked is not None
        self.draws.forget_all()
        self.masked.forget()
        if self.lender is not None:
            self.lender.give_back()
        torch.cuda.empty_cache()

    def on_spare(self, _: Message) -> Message:
        """Others lack memory. `freed`: bytes of the GPU's."""
        before = torch.cuda.memory_reserved()
        self._drop_all()
        return {"freed": before - torch.cuda.memory_reserved()}

    def on_close(self, _: Message) -> Message:
        """No more is asked of the open task: its memory is given back, and that of others is looked at no more."""
        if self.lender is not None:
            self.lender.give_back()
        self._drop_task()
        if self.device is not None and self.device.name == "cuda":
            torch.cuda.empty_cache()
        return {}

    def _drop_task(self) -> None:
        self.reference = self.budgets = self.draws = self.masked = self.lender = None
        self.states, self.measured = {}, {}

    def on_open(self, request: Message) -> Message:
        """Loads a task and writes what candidates need of it into the folder: constructor arguments and two states. It takes its turn
        itself on a GPU that others use: its code is imported and its module built while these go on."""
        with turn(alone=False):
            return self._open(request)

    def _open(self, request: Message) -> Message:
        torch.set_num_threads(request["threads"])
        torch.set_grad_enabled(False)
        self.folder, self.session = Path(request["folder"]), request["seed"]
        self._drop_task()
        release(ENOUGH_BETWEEN)
        self.device = self.device or device_named(request["device"])
        with away():
            task = load_task(self.folder / "task.json", self.device.where)
        self.reference = Reference(task, seed_of(self.session, "weights"), self.device)
        if self.device.name == "cuda":
            triton_seed.fill(Path(request["triton_seed"]))
        first = self.reference.pristine
        self.folder.mkdir(parents=True, exist_ok=True)
        self.states = {"first": first}
        sampler = Sampler(self.reference, self.session, request["accuracy"])
        self.draws = KeptDraws(self.reference, sampler, self.session, self.states)
        self.masked = MaskedDraws(self.reference, self.draws)
        choose_second(self.draws)
        if (lifted := lifted_weights(first, self.reference.scalars.names)) is not None:
            self.states["lifted"] = self.reference.held(lifted)
        if first and (most := min(NUDGED, MOST_NUDGED // max(1, bytes_of_all([first])))):
            seed = seed_of(self.session, "nudged weights")
            scalars = self.reference.scalars.names
            nudged = [*nudged_weights(first, seed, scalars, most), *turned_weights(first, seed, scalars)]
            self.states |= {f"nudged{i}": self.reference.held(state) for i, state in enumerate(nudged)}
        self.lender = Lender(self.device, self.folder / "draws")
        save_constructor(task, self.folder)
        run = self.draw("task-0")
        others = other_kinds(run.arguments, self.reference.integers_decide(run.arguments, first))
        self.draws.dispensable = others
        self.budgets = Budgets(self.reference, request["accuracy"], others, self.draws.draw)
        moving = self.draws.watched = moving_entries(self.draws, run.eager)
        self.draws.forget("weights-0")  # which was made before
        self.states |= timed_state(first, moving, run.eager) | late_state(self.draws, moving, run)
        for which in list(self.states):
            self.states[f"moved-{which}"] = {name: self.states[which][name] for name in moving}
        states = {name: self.lender.offered(f"state-{name}", state) for name, state in self.states.items()}
        again = [self.reference.run_eager(run.arguments, first, run.seed).seconds for _ in range(2)]
        return {
            "mode": task.mode,
            "by_name": list(task.by_name),
            "weights": len(first),
            "states": states,
            "moving": moving,
            "structured": structured_kinds(run.arguments),
            "others": others,
            "eager_seconds": min(again),  # warm
            "argument_bytes": bytes_of_all(run.arguments),
            "asked": sorted(self.asked.packages),
            "imported": imported_by(task.namespace),
            "result_bytes": bytes_of_all([run.eager.calls[-1], first | run.eager.state]),  # some states grow
            "returned_bytes": bytes_of_all([run.eager.calls[0]]),
            "written": run.eager.written,
            "weight_bytes": bytes_of_all(first),
            "nominal_bytes": nominal_bytes(self.reference, run.arguments, run.eager.calls[0]),
            "files": [str(task.namespace.__file__)] if task.namespace.__name__.startswith("mtmc_file_") else [],
        }

    def draw(self, name: str) -> Draw:
        """A draw of the open task, see KeptDraws."""
        assert self.draws is not None
        return self.draws.draw(name)

    def on_draw(self, request: Message) -> Message:
        """Makes a draw ready. `skipped` when eager raises on it, or there is `no_room` for it or its kind; else eager's errors, by
        `budget` on this "kind" of draws, or on this "draw" alone; or only what it errs here beside its kind's budget (""). `whole`:
        are they those of its kind?"""
        name = request["name"]
        kind = name.rpartition("-")[0]
        assert self.budgets is not None and self.masked is not None and self.draws is not None
        try:
            draw = self.draw(name)
            told = {
                **self._given(name, draw.arguments, not name.startswith("timed-")),
                "repeats": draw.eager.repeats,
                "calls": len(draw.eager.calls),
                "in_a_row": isinstance(draw.arguments, InARow),
                "on_host": draw.truth.on_host,
                "draw_seconds": self.draws.seconds,
                "full": self.draws.full,
                "eager_seconds": draw.eager.seconds,
                "modified": draw.eager.modified,
                "aliases": draw.eager.shared.any,
                "loose": draw.eager.shared.loose,
                "overlapping": draw.eager.overlapping,
                "random_state": "" if draw.by_layout else draw.eager.random_state,
            }
            whole = request["budget"] == "kind" or (request["budget"] == "draw" and kind in self.budgets.known)
            if not whole:
                errors = self.budgets.of_one(draw) if request["budget"] else self.budgets.of_draw(draw)
            is_random = bool(draw.eager.drawn[0])
            del draw  # its kind's budget takes others, and two large ones do not fit beside each other
            if whole:
                errors = self.budgets.of_kind(kind)
        except EagerError as error:
            return {"skipped": str(error)}
        except torch.OutOfMemoryError as error:
            return self._without_room(kind, error)
        return {
            **told,
            "whole": whole,
            "eager_errors": errors.eager,
            "allowed_errors": errors.allowed,
            "beside": errors.beside,
            "chances": self.masked.chances(kind) if request["budget"] and is_random else [],
        }

    def _without_room(self, kind: str, error: torch.OutOfMemoryError) -> Message:
        """At another size it may be larger than it ever is."""
        assert self.budgets is not None
        if kind not in self.budgets.others or not self.last_try:
            raise error
        return {"skipped": first_line(error), "no_room": True}

    def on_budget(self, request: Message) -> Message:
        """Eager's errors on a kind of draws; `skipped` when it raises on one of them."""
        assert self.budgets is not None
        try:
            errors = self.budgets.of_kind(request["kind"])
        except EagerError as error:
            return {"skipped": str(error)}
        except torch.OutOfMemoryError as error:
            return self._without_room(request["kind"], error)
        return {"eager_errors": errors.eager, "allowed_errors": errors.allowed}

    def on_own(self, request: Message) -> Message:
        """What eager errs on a draw, however large."""
        assert self.budgets is not None
        try:
            return {"allowed_errors": self.budgets.of_draw(self.draw(request["draw"]), math.inf).allowed}
        except torch.OutOfMemoryError as error:
            self._without_room(request["draw"].rpartition("-")[0], error)
            return {"allowed_errors": []}

    def on_beside(self, request: Message) -> Message:
        """What else than eager's own errors makes room on a draw, and on all of its kind."""
        assert self.budgets is not None
        try:
            return self.budgets.beside(request["draw"])
        except EagerError:  # on another draw of the kind
            return {}
        except torch.OutOfMemoryError as error:
            self._without_room(request["draw"].rpartition("-")[0], error)
            return {}

    def _given(self, name: str, arguments: list[Any], anew: bool = True) -> Message:
        """What a process is told of a draw; `anew`: its arguments are not there yet."""
        assert self.lender is not None and self.draws is not None
        return {"seed": self.draws.random_seed(name), **(self.lender.offered(name, arguments) if anew else {})}

    def on_arguments(self, request: Message) -> Message:
        """The arguments of a timed call, without computing anything about them."""
        assert self.draws is not None
        return self._given(request["name"], self.draws.arguments(request["name"]))

    def on_fill(self, request: Message) -> Message:
        """Puts arguments, or weights, where a process on the GPU wants them."""
        assert self.lender is not None and self.draws is not None
        name = request["name"]
        held = self.states[name.removeprefix("state-")] if name.startswith("state-") else self.draws.arguments(name)
        try:
            self.lender.fill(held, request["places"], request["guest"])
        except (DeviceError, ValueError) as error:
            return {"refused": f"its arguments cannot be put in their place: {first_line(error)}"}
        return {}

    def on_forget(self, request: Message) -> Message:
        """Drops timed draws that will not come again."""
        assert self.lender is not None and self.draws is not None
        for name in request["names"]:
            self.draws.forget(name)
            self.lender.drop(name)
            self.measured.pop(name, None)
        return {}

    def on_measure(self, request: Message) -> Message:
        """What call number `call` of a candidate on a draw returned, and did to its arguments. `form`: its own description of
        that; `file`: where the keeper put it, and FILE.arguments what it left in the arguments that the module writes to (not on a GPU); `places`: of its arguments; `earlier`: descriptions of results that it
        still held; `modified`: tensors of its arguments that were not what had been put there (not on a GPU); `own_random`: it
        draws its own random numbers. `mismatch` names what cannot be compared."""
        assert self.lender is not None and self.draws is not None and self.masked is not None
        draw, call, form = self.draws.draw(request["draw"], must=True), request["call"], request["form"]
        try:
            if request["unreadable"]:
                raise FormError(request["unreadable"])
            value, state, left = self._returned(draw, request)
        except (FormError, DeviceError) as error:
            return {"mismatch": "tampered", "detail": first_line(error)}
        laid_out = of_own_layout(request["draw"].rpartition("-")[0])
        if mismatch := _mismatch(draw.eager, call, value, left, state, laid_out):
            return mismatch
        leaves = blobs.leaves(value) + left
        found = digest(value)
        known = self.measured.get(request["draw"], ("", []))
        again = found == known[0] and draw.eager.repeats and not left  # every call is the same to us
        measured = known[1] if again else compare_in_order(draw, call, leaves, state)
        self.measured[request["draw"]] = found, measured
        if request["own_random"]:
            measured = self.masked.compare(request["draw"], call, leaves, measured, request["guest"])
        together = [pair for pair in sharing(spans(form["list"][0])) if pair not in draw.eager.sharing]
        shared, lie = draw.eager.shared, form["list"][0]
        places = [(place["at"], place["at"] + place["bytes"]) for place in request["places"]]
        passed_on = [given and overlap([at], places) for given, at in zip(shared.arguments, spans(lie), strict=True)]
        given, anew = _spans_but(lie, shared.arguments), _spans_but(lie, either(shared.earlier, passed_on))
        changed = request["modified"]
        if self.device is not None and self.device.lends:
            put = arguments_of(self.draws.arguments(request["draw"]), call)
            changed = self.lender.unlike(put, request["places"], request["guest"])
        return {
            "outputs": measured,
            "hash": found,
            "aliases": overlap(given, places),
            "reused": any(overlap(anew, ranges(one["list"][0])) for one in request["earlier"]),
            "together": bool(together),
            "overlapping": self_overlapping(value),
            "modified": _arguments_of(draw.arguments, changed),
        }

    def on_wrong(self, request: Message) -> Message:
        """The first wrong elements of an `output`, by the request that measured it and what the judge has against it."""
        assert self.draws is not None
        draw = self.draws.draw(request["draw"], must=True)
        try:
            value, _, left = self._returned(draw, request)
            return {"first": wrong_of(draw, request["call"], blobs.leaves(value) + left, request)}
        except (FormError, DeviceError, torch.OutOfMemoryError):  # the memory is gone, or it is not enough
            return {"first": []}

    def _returned(self, draw: Draw, request: Message) -> tuple[Any, State, list[Any]]:
        """What a call returned, the entries of the state, and what it left in the arguments that the module writes to."""
        assert self.lender is not None
        results = self.lender.seen(request["form"], request["file"], request["guest"], request["most_bytes"])
        if not (isinstance(results, list) and len(results) == 2 and isinstance(results[1], dict)):
            raise FormError("no description of a result")
        if not all(isinstance(value, torch.Tensor) for value in results[1].values()):
            raise FormError("an entry of the state is no tensor")
        return results[0], results[1], self.lender.left_in(draw.arguments, draw.eager.written, request)

    def on_unchanged(self, request: Message) -> Message:
        """Which entries of a candidate's state are not what they were set to, eager's own changes left out; do its results lie in
        one of them?"""
        assert self.lender is not None
        draw = self.draw(request["draw"])
        most = 2 * bytes_of_all([self.states["first"] | draw.eager.state]) + (1 << 20)
        try:
            if request["unreadable"]:
                raise FormError(request["unreadable"])
            state = self.lender.seen(request["form"], request["file"], request["guest"], most)
        except FormError as error:
            return {"mismatch": "tampered", "detail": str(error)}
        wanted = self.states[request["state"]]
        if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
            return {"mismatch": "tampered", "detail": "no description of a state"}
        kept = [name for name in wanted if name not in request["without"] and (name in state or not is_plain(name))]
        there = [name for name in kept if name in state and state[name].device == wanted[name].device]
        now, then = (blobs.on_host([values[name] for name in there]) for values in (state, wanted))
        same = {name for name, one, other in zip(there, now, then, strict=True) if _unchanged(one, other)}
        own = _spans_but(request["results"]["list"][0], draw.eager.shared.module)
        return {
            "changed": [name for name in kept if name not in same],
            "aliases": overlap(ranges(request["form"]), own),
        }

    def on_digest(self, request: Message) -> Message:
        """Of what a call returned, where it lies by now (on a GPU). Not of the state: other weights may have been put in the place
        of those that were there, whose memory is gone."""
        assert self.lender is not None
        try:
            value = self.lender.seen(request["form"], "", request["guest"], request["most_bytes"])
        except FormError:
            return {"hash": ""}
        return {"hash": digest(value)}

    def on_unlike(self, request: Message) -> Message:
        """Which arguments of an earlier call on a draw are no longer what was put in their places (on a GPU)?"""
        assert self.lender is not None and self.draws is not None
        held = self.draws.arguments(request["draw"])
        try:
            return {"modified": self.lender.unlike(held, request["places"], request["guest"])}
        except (DeviceError, ValueError):  # the memory is gone
            return {"modified": list(range(len(request["places"])))}

    def on_nulls(self, request: Message) -> Message:
        """What results that took no work (`nulls`) would measure on a draw."""
        draw = self.draw(request["draw"])
        return {"nulls": measure_nulls(request["nulls"], draw, lambda: self.draw(request["first"]))}

    def on_touched(self, _: Message) -> Message:
        """Bytes that any correct result must touch."""
        assert self.reference is not None
        return {"bytes": touched_bytes(self.reference, self.draw("task-0").arguments)}


def _spans_but(result: Any, shared: Flags) -> list[tuple[int, int]]:
    """Where the tensors of a result lie, but for those that share memory in eager, too."""
    return [span for span, also in zip(spans(result), shared, strict=True) if not also]


def _mismatch(eager: Eager, call: int, value: Any, left: list[Any], state: State, laid_out: bool) -> Message:
    """Why what a call returned cannot be compared with eager's; empty: it can. `laid_out`: it must lie in memory as eager's."""
    if (structure := structure_of(value)) != eager.structure:
        return {"mismatch": "wrong-shape", "detail": f"returns {structure} instead of {eager.structure}"}
    if missing := [name for name in eager.after[call] if name not in state and not is_plain(name)]:
        return {"mismatch": "state-differs", "detail": f"{missing[0]} is not there"}
    leaves = blobs.leaves(value)
    if len(leaves + left) != len(eager.calls[call]):  # a name of a part that reads like a structure
        return {"mismatch": "wrong-shape", "detail": f"returns {len(leaves + left)} leaves"}
    for index, (c, ordered) in enumerate(zip(leaves, eager.ordered, strict=False)):
        if laid_out and ordered and disordered(c, eager.calls[call][index]):
            return {"mismatch": "wrong-shape", "detail": f"output {index} is not contiguous, and eager's is"}
    return {}


def disordered(c: Any, e: Any) -> bool:
    """Has a result of eager's shape gaps, or its axes in another order? Where eager's rows follow one another `.view` fails on it."""
    both = isinstance(c, torch.Tensor) and isinstance(e, torch.Tensor)
    return both and c.shape == e.shape and not c.is_contiguous()


def _arguments_of(arguments: list[Any], leaves: list[int]) -> list[int]:
    """Which arguments these tensors, by number, belong to."""
    owners = [index for index, argument in enumerate(arguments) for _ in tensors(argument)]
    return sorted({owners[leaf] for leaf in leaves if leaf < len(owners)})


def _unchanged(now: torch.Tensor, then: torch.Tensor) -> bool:
    return now.shape == then.shape and now.dtype == then.dtype and same_numbers(now, then)


def main() -> None:
    os.environ.setdefault("PYTHONHASHSEED", "0")
    gc.freeze()  # what is loaded by now is never garbage
    handle = Referee().handle
    serve(Line(REQUESTS, REPLIES), saying_where(handle) if os.environ.get("MTMC_TRACE") else handle)


if __name__ == "__main__":
    main()
