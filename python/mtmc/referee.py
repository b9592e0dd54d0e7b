"""The referee: holds the task, its truth and eager's errors, writes the draws, and measures what candidates returned.

Never runs a candidate. Requests: {"op": "open" | "draw" | "measure" | "nulls" | "touched", ...}, see the methods.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch

from mtmc import blobs, foreign, triton_seed
from mtmc.accuracy import Tf32Matmuls, fp32_only
from mtmc.arguments import load_arguments
from mtmc.blobs import structure_of
from mtmc.chance import all_kept, fractions, is_masked, under_own_mask
from mtmc.device import Device, device_named, release
from mtmc.draws import STRUCTURED, make_draw, seed_of, sizes_to_vary, vary
from mtmc.measure import Measurement, measure, nearest_constant, settled
from mtmc.outputs import bytes_of_all, tensors
from mtmc.reference import CALLS, Eager, EagerError, Reference, State, Truth, half_an_ulp, second_weights
from mtmc.task import TaskError, first_line, load_task
from mtmc.task_error import out_of_memory
from mtmc.touched import touched_bytes
from mtmc.truth import SINGLE, TruthError, widen
from mtmc.wire import REPLIES, REQUESTS, Line, Message, serve

KEPT_BYTES, KEPT_ON_GPU = 2 << 30, 8 << 30  # draws that are kept in memory
SEEDS = 5  # how many draws of a kind make its budget


@dataclass
class Draw:
    """A draw with all that is known about it."""

    arguments: list[Any]
    seed: int
    state: State
    eager: Eager
    truth: Truth

    @cached_property
    def finite(self) -> bool:
        """Are all arguments?"""
        floats = [t for t in tensors(self.arguments) if t.is_floating_point()]
        return all(bool(t.isfinite().all()) for t in floats)

    def bytes(self) -> int:
        held = tensors([self.arguments, self.eager.calls, self.truth.calls, [t.values for t in self.truth.ties if t]])
        return sum({t.data_ptr(): t.numel() * t.element_size() for t in held}.values())


@dataclass
class Errors:
    """Against the truth, run by run, output by output: eager's own, and those that candidates are allowed."""

    eager: list[list[Measurement]]
    allowed: list[list[Measurement]]


class Referee:
    def __init__(self) -> None:
        self.reference: Reference | None = None
        self.device: Device | None = None
        self.kept_bytes = KEPT_BYTES
        self.folder = Path()
        self.session = 0
        self.states: dict[str, State] = {}
        self.draws: dict[str, Draw] = {}
        self.timed: dict[str, list[Any]] = {}  # arguments of timed calls that may come again
        self.accuracy = "eager"
        self.errors: dict[str, Errors] = {}
        self.kept: dict[str, list[list[Any]] | None] = {}  # see chance.py; by draw

    def handle(self, request: Message) -> Message:
        try:
            return getattr(self, "on_" + request["op"])(request)
        except TaskError as error:
            return {"error": error.to_json()}
        except (TruthError, blobs.BlobError) as error:
            doing = "computing the float64 truth of the module"
            return {"error": TaskError(doing, str(error)).to_json()}
        except torch.OutOfMemoryError as error:
            return {"error": out_of_memory("computing what the module must return", error).to_json()}
        finally:
            release()

    def on_open(self, request: Message) -> Message:
        """Loads a task and writes what candidates need of it into the folder: constructor arguments and two states."""
        torch.set_num_threads(request["threads"])
        torch.set_grad_enabled(False)
        self.folder, self.session, self.accuracy = Path(request["folder"]), request["seed"], request["accuracy"]
        self.draws, self.timed, self.errors, self.kept = {}, {}, {}, {}
        self.reference = None
        if request["device"] == "cuda":
            torch.cuda.empty_cache()  # the memory of the task before: others may need it
        self.device = self.device or device_named(request["device"])
        self.kept_bytes = KEPT_BYTES if self.device.name == "cpu" else KEPT_ON_GPU
        task = load_task(self.folder / "task.json", self.device.where)
        task.check_runs()
        if self.device.name == "cuda":
            triton_seed.fill(Path(request["triton_seed"]))
        self.reference = Reference(task, seed_of(self.session, "weights"), self.device)
        first = self.reference.pristine
        self.folder.mkdir(parents=True, exist_ok=True)
        self.states = {"first": first, "second": second_weights(first, seed_of(self.session, "second weights"))}
        for name, state in self.states.items():
            blobs.save(state, self.folder / f"state-{name}")
        self._save_constructor(task)
        run = self._draw("task-0")
        again = [self.reference.run_eager(run.arguments, first, run.seed).seconds for _ in range(2)]
        return {
            "mode": task.mode,
            "weights": len(first),
            "structured": list(STRUCTURED) if self._has_floats(run.arguments) else ["non-contiguous"],
            "shapes": len(sizes_to_vary(run.arguments)),
            "eager_seconds": min(again),  # warm
            "argument_bytes": bytes_of_all(run.arguments),
            "files": [str(task.namespace.__file__)] if task.namespace.__name__.startswith("mtmc_file_") else [],
        }

    def _save_constructor(self, task: Any) -> None:
        arguments = ([], {}) if task.kind == "function" else task.constructor_arguments()
        try:
            data = pickle.dumps(arguments)
            load_arguments(data, task.namespace.__name__, None)
        except Exception as error:
            raise TaskError(
                "passing the constructor's arguments to a candidate",
                "they cannot be rebuilt without the file that defines their classes",
                first_line(error),
                "plain values, tensors, or objects that only hold attributes",
            ) from error
        (self.folder / "init.pickle").write_bytes(data)
        (self.folder / "hidden").write_text(task.namespace.__name__)

    def _has_floats(self, arguments: list[Any]) -> bool:
        return any(isinstance(leaf, torch.Tensor) and leaf.is_floating_point() for leaf in blobs.leaves(arguments))

    def _draw(self, name: str) -> Draw:
        """Arguments, eager and truth of a draw; kept. EagerError when the module itself raises."""
        if name in self.draws:
            return self.draws[name]
        assert self.reference is not None
        sizes = [kept.bytes() for kept in self.draws.values()]
        self._make_room(max(sizes, default=0))  # it will be as large as the others: they must not lie beside it
        state = self.states["second" if name.startswith("weights-") else "first"]
        arguments, seed = self._arguments(name), self._random_seed(name)
        eager = self.reference.run_eager(arguments, state, seed)
        truth = self.reference.run_truth(arguments, state, eager, widen)
        draw = Draw(arguments, seed, state, eager, truth)
        self._make_room(draw.bytes())
        self.draws[name] = draw
        return draw

    def _make_room(self, size: int) -> None:
        """Forgets the oldest draws; they are computed again when they are needed."""
        while self.draws and sum(kept.bytes() for kept in self.draws.values()) + size > self.kept_bytes:
            del self.draws[next(iter(self.draws))]

    def _errors(self, kind: str) -> Errors:
        """On SEEDS draws of a kind, and what half an ulp in the arguments does to the truth."""
        if kind not in self.errors:
            assert self.reference is not None
            eager, allowed = [], []
            for index in range(SEEDS):
                draw = self._draw(f"{kind}-{index}")
                eager += self._compare_calls(draw, draw.eager.calls, draw.eager.state)
                if self.accuracy == "strict":
                    with fp32_only():
                        single = partial(widen, widths=SINGLE)
                        run = self.reference.run_truth(draw.arguments, draw.state, draw.eager, single, SINGLE)
                    allowed += self._compare_calls(draw, run.calls, run.state)
                elif self.accuracy == "tf32":
                    with Tf32Matmuls():
                        rounded = self.reference.run_eager(draw.arguments, draw.state, draw.seed)
                    allowed += self._compare_calls(draw, rounded.calls, rounded.state)
                del draw  # the next one may need its memory
            draw = self._draw(f"{kind}-0")
            moved = self.reference.run_truth(draw.arguments, draw.state, draw.eager, half_an_ulp(draw.seed))
            half_ulp = self._compare_calls(draw, moved.calls[:1], moved.state)
            own = [] if self.accuracy == "strict" else eager
            self.errors[kind] = Errors(eager + half_ulp, own + allowed + half_ulp)
        return self.errors[kind]

    def _compare_calls(self, draw: Draw, calls: list[list[Any]], state: State) -> list[list[Measurement]]:
        """Calls of the reference itself in any precision, narrowed to eager's types before they are measured."""
        narrow = [[_like(v, e) for v, e in zip(c, draw.eager.calls[i], strict=True)] for i, c in enumerate(calls)]
        after = {name: _like(value, draw.state[name]) for name, value in state.items()}
        return [self._compare(draw, index, leaves, after) for index, leaves in enumerate(narrow)]

    def _kept(self, name: str) -> list[list[Any]] | None:
        """The truths of a draw when its dropouts keep everything; None where that says nothing about its outputs."""
        if name not in self.kept:
            draw = self._draw(name)
            drawn = [all_kept(call) for call in draw.eager.drawn]
            self.kept = {**dict(list(self.kept.items())[-2 * SEEDS :]), name: None}
            if draw.eager.drawn[0] and None not in drawn:
                assert self.reference is not None
                kept = self.reference.run_truth(
                    draw.arguments, draw.state, replace(draw.eager, drawn=drawn), widen
                ).calls
                pairs = [pair for c, k in zip(draw.truth.calls, kept, strict=True) for pair in zip(c, k, strict=True)]
                if all(isinstance(t, torch.Tensor) and t.is_floating_point() and is_masked(t, k) for t, k in pairs):
                    self.kept[name] = kept
        return self.kept[name]

    def _chances(self, kind: str) -> list[list[dict[str, float]]]:
        """The fractions of eager's own masks, call by call, output by output; empty where no mask can be seen."""
        found = []
        for index in range(SEEDS):
            draw, kept = self._draw(f"{kind}-{index}"), self._kept(f"{kind}-{index}")
            if kept is None:
                return []
            first = draw.eager.calls[0]
            for call, leaves in enumerate(draw.eager.calls):
                rows = zip(leaves, kept[call], first, strict=True)
                found.append([fractions(e, k, f if call else None) for e, k, f in rows])
        return found

    def _compare_masked(
        self, draw: Draw, kept: list[Any], leaves: list[Any], first: list[Any] | None, plain: list[Measurement]
    ) -> list[Measurement]:
        """As _compare, whose answer is `plain`, against the truth under the candidate's own mask."""
        found = []
        for index, (c, k) in enumerate(zip(leaves, kept, strict=True)):
            e = draw.eager.calls[0][index]
            if "mismatch" in plain[index]:
                found.append(plain[index])
                continue
            t = under_own_mask(c, k)
            one = measure(c, t.to(e.dtype), t, None)
            one |= {name: plain[index][name] for name in ("output", "exact", "official_bad", "legacy_bad")}
            found.append({**one, "fractions": fractions(c, k, first[index] if first else None)})
        return found + plain[len(leaves) :]

    def _compare(self, draw: Draw, call: int, leaves: list[Any], state: State) -> list[Measurement]:
        """Measurements of all outputs of one call, then of the changed state."""
        found = []
        eager, truth = draw.eager.calls[call], draw.truth.calls[call]
        for index, (c, e, t) in enumerate(zip(leaves, eager, truth, strict=True)):
            found.append({"output": str(index)} | measure(c, e, t, draw.truth.ties[index]))
        for name, e in draw.eager.state.items():
            c = state.get(name, draw.state[name])
            c = c if draw.finite else settled(c, e)
            found.append({"output": f"state:{name}"} | measure(c, e, draw.truth.state[name], None))
        return found

    def on_draw(self, request: Message) -> Message:
        """Makes a draw ready. `skipped` when eager raises on it; else eager's errors on this kind of draw."""
        name = request["name"]
        try:
            draw = self._draw(name)
            errors = self._errors(name.rpartition("-")[0]) if request["budget"] else Errors([], [])
        except EagerError as error:
            return {"skipped": str(error)}
        if not name.startswith("timed-"):  # those are written by on_arguments
            blobs.save(draw.arguments, self.folder / "draws" / name)
        return {
            "seed": draw.seed,
            "eager_errors": errors.eager,
            "allowed_errors": errors.allowed,
            "chances": self._chances(name.rpartition("-")[0]) if request["budget"] and draw.eager.drawn[0] else [],
            "modified": draw.eager.modified,
            "aliases": draw.eager.aliases,
            "overlapping": draw.eager.overlapping,
            "random_state": draw.eager.random_state,
            "changed_state": list(draw.eager.state),
        }

    def on_arguments(self, request: Message) -> Message:
        """Writes the arguments of a timed call, without computing anything about them. `large`: of varied ones only what
        differs from their origin, which came before. Draws of their own are whole, and the origin stays the one that is kept."""
        name, folder = request["name"], self.folder / "draws" / request["name"]
        large, origin, varied = request.get("large", False), name.partition("~")[0], self._varied(name)
        if large and varied is not None:
            blobs.save_changes(varied, self._arguments(origin), origin, folder)
        else:
            blobs.save(self._arguments(name) if varied is None else varied, folder)
            if large and origin == name:
                (folder / "keep").write_text(name)
        return {"seed": self._random_seed(name)}

    def on_forget(self, request: Message) -> Message:
        """Drops timed draws that will not come again."""
        for kept in (self.timed, self.draws):
            for name in request["names"]:
                kept.pop(name, None)
        return {}

    def _varied(self, name: str) -> list[Any] | None:
        """The arguments of KIND-INDEX~N as its origin's with a few elements changed; None for any other draw."""
        origin, varies, _ = name.partition("~")
        return vary(self._arguments(origin), self.session, name) if varies else None

    def _arguments(self, name: str) -> list[Any]:
        assert self.reference is not None
        if name in self.timed:
            return self.timed[name]
        if (varied := self._varied(name)) is not None:
            return varied
        kind, _, index = name.rpartition("-")
        arguments = make_draw(self.reference.task, self.session, kind, index)
        if kind == "timed" and "~" not in index:
            self.timed[name] = arguments
        return arguments

    def _random_seed(self, name: str) -> int:
        """What torch's generator is seeded with before the calls on a draw."""
        return seed_of(self.session, f"{name}-random")

    def on_measure(self, request: Message) -> Message:
        """Measures the saved calls of a candidate on a draw; `calls` holds one list of measurements per saved call.
        `digests`: what must have been saved, `0` and maybe `1` and `state`, with what the guest said of it when it saved it.
        `own_random`: it draws its own random numbers."""
        draw, folder, digests = self._draw(request["draw"]), Path(request["out"]), request["digests"]
        kept = self._kept(request["draw"]) if request["own_random"] else None
        calls, hashes, first = [], [], None

        loaded: dict[str, Any] = {}

        def saved(name: str) -> Any:
            digest = digests[name]
            if digest not in loaded:  # the first of its name is the one that was saved
                loaded[digest] = foreign.load(folder, min(n for n in digests if digests[n] == digest), digest)
            return loaded[digest]

        try:
            state = saved("state") if "state" in digests else draw.eager.state
            if not isinstance(state, dict):
                raise foreign.ForeignError("the saved state is no dict")
            for call in (call for call in range(CALLS) if str(call) in digests):
                value = saved(str(call))
                if (structure := structure_of(value)) != draw.eager.structure:
                    detail = f"returns {structure} instead of {draw.eager.structure}"
                    return {"mismatch": "wrong-shape", "detail": detail}
                leaves = blobs.leaves(value)
                hashes.append(digests[str(call)] if self.device.name == "cpu" else blobs.digest(value))
                same_truth = not draw.eager.state and draw.truth.calls[call] is draw.truth.calls[0]
                again = same_truth and calls and hashes[-1] == hashes[0]
                calls.append(calls[0] if again else self._compare(draw, call, leaves, state))
                if kept:
                    calls[-1] = self._compare_masked(draw, kept[call], leaves, first, calls[-1])
                    first = leaves
        except foreign.ForeignError as error:
            return {"mismatch": "tampered", "detail": str(error)}
        return {"calls": calls, "hashes": hashes, "truth_hash": blobs.digest(draw.truth.calls[0])}

    def on_nulls(self, request: Message) -> Message:
        """What zeros, a constant and a copy of an input would measure on the given draws."""
        found: dict[str, dict[str, list[Measurement]]] = {"zeros": {}, "constant": {}, "copy": {}}
        levels: list[float] = []
        for name in request["draws"]:
            draw = self._draw(name)
            rows = list(zip(draw.eager.calls[0], draw.truth.calls[0], strict=True))
            levels = levels or [nearest_constant(t) for _, t in rows]
            found["zeros"][name] = [measure(_filled(e, 0.0), e, t, None) for e, t in rows]
            found["constant"][name] = [
                measure(_filled(e, level), e, t, None) for (e, t), level in zip(rows, levels, strict=True)
            ]
            found["copy"][name] = [measure(_copied(e, draw.arguments), e, t, None) for e, t in rows]
            del draw, rows  # the next one may need their memory
        return {"nulls": found}

    def on_touched(self, _: Message) -> Message:
        """Bytes that any correct result must touch, and bytes of all arguments, weights and results."""
        assert self.reference is not None
        return touched_bytes(self.reference, self._draw("task-0").arguments)


def _like(value: Any, e: Any) -> Any:
    """A value in the type of eager's, so that both are measured alike."""
    return value.to(e.dtype) if isinstance(e, torch.Tensor) else value


def _filled(e: Any, level: float) -> Any:
    return torch.full_like(e, level) if isinstance(e, torch.Tensor) else e


def _copied(e: Any, arguments: list[Any]) -> Any:
    """The first argument that could pass for the output by its shape and type; zeros when there is none."""
    if not isinstance(e, torch.Tensor):
        return e
    for leaf in blobs.leaves(arguments):
        if isinstance(leaf, torch.Tensor) and leaf.numel() == e.numel() and leaf.dtype == e.dtype:
            return leaf.reshape(e.shape)
    return torch.zeros_like(e)


def main() -> None:
    os.environ.setdefault("PYTHONHASHSEED", "0")
    serve(Line(REQUESTS, REPLIES), Referee().handle)


if __name__ == "__main__":
    main()
