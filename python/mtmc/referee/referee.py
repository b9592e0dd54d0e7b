"""The referee: holds the task, its truth and eager's errors, writes the draws, and measures what candidates returned.

Never runs a candidate. Requests: {"op": "open" | "draw" | "measure" | "nulls" | "touched", ...}, see the methods.
"""

from __future__ import annotations

import math
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mtmc.device import triton_seed
from mtmc.device.cuda import DeviceError
from mtmc.device.device import Device, device_named, release
from mtmc.referee.budgets import SEEDS, Budgets, Draw, compare
from mtmc.referee.chance import Masks, all_kept, fractions, is_masked, under_own_mask
from mtmc.referee.draws import LAYOUTS, make_draw, mixed, other_kinds, seed_of, structured_kinds
from mtmc.referee.lending import Lender, same_bits
from mtmc.referee.measure import Measurement, measure, nearest_constant
from mtmc.referee.reference import CALLS, EagerError, Reference, State, Truth
from mtmc.referee.sampled import Sampler
from mtmc.referee.touched import touched_bytes
from mtmc.referee.truth import TruthError, widen
from mtmc.referee.weights import NUDGED, lifted_weights, nudged_weights, second_weights
from mtmc.task.asked import Asked
from mtmc.task.task import TaskError, first_line, load_task
from mtmc.wire import blobs
from mtmc.wire.arguments import load_arguments
from mtmc.wire.blobs import structure_of
from mtmc.wire.forms import FormError, overlap, ranges, sharing, spans
from mtmc.wire.line import REPLIES, REQUESTS, Line, Message, serve
from mtmc.wire.outputs import bytes_of_all, self_overlapping, tensors
from mtmc.wire.plain import is_plain
from mtmc.wire.task_error import out_of_memory

KEPT_BYTES, KEPT_ON_GPU = 2 << 30, 8 << 30  # draws that are kept in memory
MOST_NUDGED = 1 << 28  # bytes of weights: of larger ones there is no copy with a few other elements
MORE_CALLS = 6  # a draw `repeated` has one to so many calls more than others
TIMED_SET, MIXED_DRAWS = 1000, 5  # as src/eval/process_judge.cpp numbers the draws of timed calls


class Referee:
    def __init__(self) -> None:
        self.asked = Asked()
        self.reference: Reference | None = None
        self.device: Device | None = None
        self.kept_bytes = KEPT_BYTES
        self.folder = Path()
        self.session = 0
        self.states: dict[str, State] = {}
        self.draws: dict[str, Draw] = {}
        self.timed: dict[str, list[Any]] = {}  # arguments of timed calls that may come again
        self.lender: Lender | None = None
        self.budgets: Budgets | None = None
        self.sampler: Sampler | None = None
        self.kept: dict[str, list[list[Any]] | None] = {}  # see chance.py; by draw
        self.first_results: list[Any] = []  # of a candidate that draws its own random numbers
        self.masks: tuple[str, dict[int, Masks]] = ("", {})  # that a guest has drawn, output by output

    def handle(self, request: Message) -> Message:
        try:
            return getattr(self, "on_" + request["op"])(request)
        except TaskError as error:
            return {"error": error.to_json()}
        except (TruthError, FormError) as error:
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
        self.folder, self.session = Path(request["folder"]), request["seed"]
        self.draws, self.timed, self.kept = {}, {}, {}
        self.reference = self.budgets = None
        if request["device"] == "cuda":
            torch.cuda.empty_cache()  # the memory of the task before: others may need it
        self.device = self.device or device_named(request["device"])
        self.kept_bytes = KEPT_BYTES if self.device.name == "cpu" else KEPT_ON_GPU
        task = load_task(self.folder / "task.json", self.device.where)
        self.reference = Reference(task, seed_of(self.session, "weights"), self.device)
        if self.device.name == "cuda":
            triton_seed.fill(Path(request["triton_seed"]))
        self.sampler = Sampler(self.reference, self.session, request["accuracy"])
        first = self.reference.pristine
        self.folder.mkdir(parents=True, exist_ok=True)
        self.states = {"first": first}
        self._choose_second()
        if (lifted := lifted_weights(first, self.reference.scalars.names)) is not None:
            self.states["lifted"] = self.reference.held(lifted)
        if first and (most := min(NUDGED, MOST_NUDGED // max(1, bytes_of_all([first])))):
            seed = seed_of(self.session, "nudged weights")
            nudged = nudged_weights(first, seed, self.reference.scalars.names, most)
            self.states |= {f"nudged{i}": self.reference.held(state) for i, state in enumerate(nudged)}
        self.lender = Lender(self.device, self.folder / "draws")
        self._save_constructor(task)
        run = self._draw("task-0")
        others = other_kinds(run.arguments, self.reference.integers_decide(run.arguments, first))
        self.budgets = Budgets(self.reference, request["accuracy"], others, self._draw)
        for which in list(self.states):
            self.states[f"moved-{which}"] = {name: self.states[which][name] for name in run.eager.state}
        states = {name: self.lender.offered(f"state-{name}", state) for name, state in self.states.items()}
        again = [self.reference.run_eager(run.arguments, first, run.seed).seconds for _ in range(2)]
        return {
            "mode": task.mode,
            "weights": len(first),
            "states": states,
            "moving": list(run.eager.state),
            "structured": structured_kinds(run.arguments),
            "others": others,
            "eager_seconds": min(again),  # warm
            "argument_bytes": bytes_of_all(run.arguments),
            "asked": sorted(self.asked.packages),
            "result_bytes": bytes_of_all([run.eager.calls[0], first]),
            "returned_bytes": bytes_of_all([run.eager.calls[0]]),
            "written": run.eager.written,
            "weight_bytes": bytes_of_all(first),
            "files": [str(task.namespace.__file__)] if task.namespace.__name__.startswith("mtmc_file_") else [],
        }

    def _choose_second(self) -> None:
        """Other weights: of both signs where the module is as exact with them, else of the signs that they have."""
        assert self.reference is not None
        names = [name for name, _ in self.reference.model.named_parameters()]
        for signed in (names, []):
            seed = seed_of(self.session, "second weights")
            state = second_weights(self.states["first"], seed, self.reference.scalars.names, signed)
            self.states["second"] = self.reference.held(state)
            if not signed or self._errs("weights-0") <= 10 * max(self._errs("task-0"), 1e-6):
                break
            self.draws.pop("weights-0", None)

    def _errs(self, name: str) -> float:
        """Eager's largest relative error on a draw; infinite where it raises, or returns what is not finite."""
        try:
            draw = self._draw(name)
        except EagerError:
            return math.inf
        found = [0.0]
        for e, cut, t in draw.rows():
            if isinstance(e, torch.Tensor) and e.is_floating_point() and e.numel():
                error = float((cut(e).to(t.dtype) - t).norm() / t.norm().clamp(min=1e-300))
                found.append(error if math.isfinite(error) else math.inf)
        return max(found)

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

    def _draw(self, name: str) -> Draw:
        """Arguments, eager and truth of a draw; kept. EagerError when the module itself raises."""
        if name in self.draws:
            return self.draws[name]
        assert self.reference is not None and self.sampler is not None
        sizes = [kept.bytes() for kept in self.draws.values()]
        self._make_room(max(sizes, default=0))  # it will be as large as the others: they must not lie beside it
        kind = name.rpartition("-")[0]
        state = self.states["second" if kind == "weights" else kind if kind in self.states else "first"]
        arguments, seed = self._arguments(name), self._random_seed(name)
        count = CALLS + 1 + seed % MORE_CALLS if kind == "repeated" else CALLS
        eager = self.reference.run_eager(arguments, state, seed, count)
        draw = Draw(arguments, seed, state, eager, Truth([], []), self.sampler)
        draw.slices = known = self.sampler.slices(draw)
        if known is not None:
            draw.truth = Truth(known.calls, known.states, [None] * len(eager.calls[0]))
        else:
            draw.truth = self.reference.run_truth(arguments, state, eager, widen)
        self._make_room(draw.bytes())
        self.draws[name] = draw
        return draw

    def _make_room(self, size: int) -> None:
        """Forgets the oldest draws; they are computed again when they are needed."""
        while self.draws and sum(kept.bytes() for kept in self.draws.values()) + size > self.kept_bytes:
            del self.draws[next(iter(self.draws))]

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

    def _chances(self, kind: str) -> list[dict[str, dict[str, float]]]:
        """The fractions of eager's own masks, call by call, output by output; empty where no mask can be seen."""
        found = []
        masks: dict[int, Masks] = {}
        for index in range(SEEDS):
            draw, kept = self._draw(f"{kind}-{index}"), self._kept(f"{kind}-{index}")
            if kept is None:
                return []
            first = draw.eager.calls[0]
            for call, leaves in enumerate(draw.eager.calls):
                rows = zip(leaves, kept[call], first, strict=True)
                found.append({})
                for output, (e, k, f) in enumerate(rows):
                    alike = masks.setdefault(output, Masks()).like_earlier(e, k)
                    found[-1][draw.eager.name_of(output)] = fractions(e, k, f if call else None) | alike
        return found

    def _compare_masked(
        self,
        draw: Draw,
        kept: list[Any],
        leaves: list[Any],
        first: list[Any] | None,
        plain: list[Measurement],
        who: str,
    ) -> list[Measurement]:
        """As `compare`, whose answer is `plain`, against the truth under the candidate's own mask."""
        found = []
        if self.masks[0] != who:
            self.masks = (who, {})
        for index, (c, k) in enumerate(zip(leaves, kept, strict=True)):
            e = draw.eager.calls[0][index]
            if "mismatch" in plain[index]:
                found.append(plain[index])
                continue
            t = under_own_mask(c, k)
            one = measure(c, t.to(e.dtype), t, None)
            one |= {name: plain[index][name] for name in ("output", "exact", "official_bad", "legacy_bad")}
            seen = fractions(c, k, first[index] if first else None)
            seen |= self.masks[1].setdefault(index, Masks()).like_earlier(c, k)
            found.append({**one, "fractions": seen})
        return found + plain[len(leaves) :]

    def on_draw(self, request: Message) -> Message:
        """Makes a draw ready. `skipped` when eager raises on it; else eager's errors on this kind of draw."""
        name = request["name"]
        try:
            draw = self._draw(name)
            assert self.budgets is not None
            errors = self.budgets.of_kind(name.rpartition("-")[0]) if request["budget"] else self.budgets.of_draw(draw)
        except EagerError as error:
            return {"skipped": str(error)}
        return {
            **self._given(name, draw.arguments, not name.startswith("timed-")),
            "repeats": draw.eager.repeats,
            "calls": len(draw.eager.calls),
            "eager_errors": errors.eager,
            "allowed_errors": errors.allowed,
            "beside": errors.beside,
            "chances": self._chances(name.rpartition("-")[0]) if request["budget"] and draw.eager.drawn[0] else [],
            "modified": draw.eager.modified,
            "aliases": draw.eager.aliases,
            "overlapping": draw.eager.overlapping,
            "random_state": draw.eager.random_state,
            "changed_state": list(draw.eager.state),
        }

    def _given(self, name: str, arguments: list[Any], anew: bool = True) -> Message:
        """What a process is told of a draw; `anew`: its arguments are not there yet."""
        assert self.lender is not None
        return {"seed": self._random_seed(name), **(self.lender.offered(name, arguments) if anew else {})}

    def on_arguments(self, request: Message) -> Message:
        """The arguments of a timed call, without computing anything about them."""
        return self._given(request["name"], self._arguments(request["name"]))

    def on_fill(self, request: Message) -> Message:
        """Puts arguments, or weights, where a process on the GPU wants them."""
        assert self.lender is not None
        name = request["name"]
        held = self.states[name.removeprefix("state-")] if name.startswith("state-") else self._arguments(name)
        try:
            self.lender.fill(held, request["places"], request["guest"])
        except (DeviceError, ValueError) as error:
            return {"refused": f"its arguments cannot be put in their place: {first_line(error)}"}
        return {}

    def on_forget(self, request: Message) -> Message:
        """Drops timed draws that will not come again."""
        assert self.lender is not None
        for name in request["names"]:
            self.timed.pop(name, None)
            self.draws.pop(name, None)
            self.lender.drop(name)
        return {}

    def _mixed(self, name: str) -> list[Any] | None:
        """The arguments of KIND-INDEX~N; None for any other draw. Where nothing could be mixed it is a draw of its own."""
        origin, mixes, _ = name.partition("~")
        first = self._arguments(origin) if mixes else []
        if not any(leaf.is_floating_point() and leaf.numel() > 1 for leaf in tensors(first)):
            return None  # one number would be the same one again
        kind, _, index = origin.rpartition("-")
        other = int(index) // TIMED_SET * TIMED_SET + (int(index) + 1) % TIMED_SET % MIXED_DRAWS
        return mixed(first, self._arguments(f"{kind}-{other}"), self.session, name)

    def _arguments(self, name: str) -> list[Any]:
        assert self.reference is not None
        if name in self.timed:
            return self.timed[name]
        if name in self.draws:
            return self.draws[name].arguments
        if (made := self._mixed(name)) is not None:
            return made
        kind, _, index = name.rpartition("-")
        arguments = make_draw(self.reference.task, self.session, kind, index)
        if kind == "timed" and "~" not in index:
            if self.device is not None and self.device.name != "cpu":
                self.timed.clear()  # drawn anew faster than kept
            self.timed[name] = arguments
        return arguments

    def _random_seed(self, name: str) -> int:
        """What torch's generator is seeded with before the calls on a draw."""
        return seed_of(self.session, f"{name}-random")

    def on_measure(self, request: Message) -> Message:
        """What call number `call` of a candidate on a draw returned, and did to its arguments. `form`: its own description of
        that; `file`: where the keeper put it, and FILE.arguments what it left in the arguments that the module writes to (not on a GPU); `places`: of its arguments; `earlier`: descriptions of results that it
        still held; `modified`: tensors of its arguments that were not what had been put there (not on a GPU); `own_random`: it
        draws its own random numbers. `mismatch` names what cannot be compared."""
        assert self.lender is not None
        draw, call, form = self._draw(request["draw"]), request["call"], request["form"]
        most = request["most_bytes"]
        try:
            if request["unreadable"]:
                raise FormError(request["unreadable"])
            value, state = self._split(self.lender.seen(form, request["file"], request["guest"], most))
            left = self.lender.left_in(draw.arguments, draw.eager.written, request)
        except (FormError, DeviceError) as error:
            return {"mismatch": "tampered", "detail": first_line(error)}
        if (structure := structure_of(value)) != draw.eager.structure:
            return {"mismatch": "wrong-shape", "detail": f"returns {structure} instead of {draw.eager.structure}"}
        if missing := [name for name in draw.eager.after[call] if name not in state and not is_plain(name)]:
            return {"mismatch": "state-differs", "detail": f"{missing[0]} is not there"}
        leaves = blobs.leaves(value) + left
        if len(leaves) != len(draw.eager.calls[call]):  # a name of a part that reads like a structure
            return {"mismatch": "wrong-shape", "detail": f"returns {len(leaves)} leaves"}
        for index, (c, e) in enumerate(zip(blobs.leaves(value), draw.eager.calls[call], strict=False)):
            if disordered(c, e) and request["draw"].rpartition("-")[0] not in LAYOUTS:
                detail = f"output {index} is not contiguous, and eager's is"
                return {"mismatch": "wrong-shape", "detail": detail}
        measured = compare(draw, call, leaves, state)
        if request["own_random"] and (kept := self._kept(request["draw"])):
            first = self.first_results if call else None
            measured = self._compare_masked(draw, kept[call], leaves, first, measured, request["guest"])
            self.first_results = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        together = [pair for pair in sharing(spans(form["list"][0])) if pair not in draw.eager.sharing]
        mine = _own_spans(form, draw)
        changed = request["modified"]
        if self.device is not None and self.device.lends:
            changed = self.lender.unlike(self._arguments(request["draw"]), request["places"], request["guest"])
        return {
            "outputs": measured,
            "hash": blobs.digest(value),
            "aliases": overlap(mine, [(p["at"], p["at"] + p["bytes"]) for p in request["places"]]),
            "reused": any(overlap(mine, ranges(one["list"][0])) for one in request["earlier"]),
            "together": bool(together),
            "overlapping": self_overlapping(value),
            "modified": _arguments_of(draw.arguments, changed),
        }

    @staticmethod
    def _split(results: Any) -> tuple[Any, State]:
        """What a call returned, and the entries of the state."""
        if not (isinstance(results, list) and len(results) == 2 and isinstance(results[1], dict)):
            raise FormError("no description of a result")
        if not all(isinstance(value, torch.Tensor) for value in results[1].values()):
            raise FormError("an entry of the state is no tensor")
        return results[0], results[1]

    def on_unchanged(self, request: Message) -> Message:
        """Which entries of a candidate's state are not what they were set to, eager's own changes left out; do its results lie in
        one of them?"""
        assert self.lender is not None
        most = sum(value.nbytes for value in self.states["first"].values()) * 2 + (1 << 20)
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
        rows = [(name, state.get(name), wanted[name]) for name in kept]
        return {
            "changed": [name for name, now, value in rows if now is None or not _alike(now, value)],
            "aliases": overlap(ranges(request["form"]), _own_spans(request["results"], self._draw(request["draw"]))),
        }

    def on_digest(self, request: Message) -> Message:
        """Of results where they lie by now (on a GPU)."""
        assert self.lender is not None
        try:
            value, _ = self._split(self.lender.seen(request["form"], "", request["guest"], request["most_bytes"]))
        except FormError:
            return {"hash": ""}
        return {"hash": blobs.digest(value)}

    def on_nulls(self, request: Message) -> Message:
        """What `nulls` would measure on a draw: zeros, a constant that comes nearest on the first draw, a copy of an input."""
        draw = self._draw(request["draw"])
        rows = [(cut(e), t) for e, cut, t in draw.rows()]
        made: dict[str, Callable[[], list[Any]]] = {
            "zeros": lambda: [_filled(e, 0.0) for e, _ in rows],
            "constant": lambda: [
                _filled(e, level) for (e, _), level in zip(rows, self._levels(request["first"]), strict=True)
            ],
            "copy": lambda: [cut(_copied(e, draw.arguments)) for e, cut, _ in draw.rows()],
        }
        found = {null: zip(made[null](), rows, strict=True) for null in request["nulls"]}
        return {
            "nulls": {
                null: [
                    {"output": draw.eager.name_of(i)} | measure(c, e, t, None) for i, (c, (e, t)) in enumerate(pairs)
                ]
                for null, pairs in found.items()
            }
        }

    def _levels(self, name: str) -> list[float]:
        return [nearest_constant(t) for _, _, t in self._draw(name).rows()]

    def on_touched(self, _: Message) -> Message:
        """Bytes that any correct result must touch, and bytes of all arguments, weights and results."""
        assert self.reference is not None
        return touched_bytes(self.reference, self._draw("task-0").arguments)


def _own_spans(results: Any, draw: Draw) -> list[tuple[int, int]]:
    """Where the tensors of a result lie, but for those that share memory in eager, too."""
    return [span for span, shared in zip(spans(results["list"][0]), draw.eager.aliases, strict=True) if not shared]


def disordered(c: Any, e: Any) -> bool:
    """Has a result gaps, or its axes in another order, where eager's rows follow one another? `.view` fails on it."""
    both = isinstance(c, torch.Tensor) and isinstance(e, torch.Tensor)
    return both and c.shape == e.shape and e.is_contiguous() and not c.is_contiguous()


def _arguments_of(arguments: list[Any], leaves: list[int]) -> list[int]:
    """Which arguments these tensors, by number, belong to."""
    owners = [index for index, argument in enumerate(arguments) for _ in tensors(argument)]
    return sorted({owners[leaf] for leaf in leaves if leaf < len(owners)})


def _alike(now: torch.Tensor, then: torch.Tensor) -> bool:
    return now.shape == then.shape and now.dtype == then.dtype and now.device == then.device and same_bits(now, then)


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
