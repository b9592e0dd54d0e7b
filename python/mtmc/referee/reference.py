"""The user's module, run in its own precision (eager) and in double (truth), from a given state and a given seed."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch.func import functional_call

from mtmc.device.device import Device
from mtmc.device.digest import digest
from mtmc.device.memory import NO_MEMORY
from mtmc.device.random_state import random_state, seed_all
from mtmc.device.turn import away
from mtmc.referee.draws import is_whole, map_leaves
from mtmc.referee.in_a_row import InARow, arguments_of, moved_in_a_row
from mtmc.referee.sharing import Returned, Shared, Versions, versions_of
from mtmc.referee.slices import Run
from mtmc.referee.ties import Ties
from mtmc.referee.truth import WIDER, Record, TruthError, Widths, run_wide, widen
from mtmc.task.foreign import refuse_foreign
from mtmc.task.lasting import ADDED, ADDS, alike, objects_of, refuse_lasting, remade
from mtmc.task.plain_state import built_again, drawn_at_random, remembers_itself, same_values
from mtmc.task.scalars import ScalarReads
from mtmc.task.task import CPU, Task
from mtmc.task.uncompiled import uncompiled
from mtmc.task.unheld import refuse_unheld
from mtmc.wire import blobs, outputs
from mtmc.wire.blobs import identical, structure_of
from mtmc.wire.by_name import by_place, split
from mtmc.wire.entries import registered
from mtmc.wire.forms import ALIGNED, form_of, make, sharing, tell_of_memory
from mtmc.wire.modes import DispatchMode
from mtmc.wire.plain import Attributes, State, changed_by, is_plain, load_state, plain_tensors, transient_buffers
from mtmc.wire.task_error import TaskError, first_line

SHARING_CALLS = 3  # tell whether results lie where earlier ones do, two buffers in turn included
CALLS = 2  # a module with state is called twice from the same state
COPIED_BYTES = 1 << 30  # larger results stay where eager put them, when that is memory of their own


class EagerError(Exception):
    """The module itself raises on these arguments."""


@dataclass
class Eager:
    """What eager returned, call by call, and what it did to its surroundings."""

    calls: list[list[Any]]  # leaves of each call's result, then the tensors of the arguments that the module writes to
    after: list[State]  # after each call, the entries that any of them changed
    structure: str
    random_state: str
    drawn: list[list[Any]]
    modified: list[int]  # arguments that eager itself changes
    written: list[int]  # tensors of the arguments, by number, that count as results
    shared: Shared  # what the tensors of eager's own results share memory with
    overlapping: list[bool]
    ordered: list[bool]  # leaves of its own result whose rows follow one another, without gaps
    sharing: list[tuple[int, int]]  # tensors of one result whose memory overlaps, by number
    seconds: float  # of the last call
    places: list[list[torch.Tensor]]  # of each call, see Record
    unsorted: bool  # see Record
    unseen: bool = False  # does it change entries of the state that are not in `after`?

    @property
    def state(self) -> State:
        """After the last call."""
        return self.after[-1]

    def name_of(self, index: int) -> str:
        """Of a leaf of a call: what verdicts call it."""
        returned = len(self.calls[0]) - len(self.written)
        return str(index) if index < returned else f"argument:{self.written[index - returned]}"

    @property
    def repeats(self) -> bool:
        """Does the same call give the same answer again?"""
        return not self.state and not self.unseen and not self.drawn[0]


@dataclass
class Truth:
    calls: list[list[Any]]
    after: list[State]
    ties: list[Ties | None] = field(default_factory=list)  # per leaf of the first call
    on_host: bool = False  # the device's memory was too small

    @property
    def state(self) -> State:
        return self.after[-1]

    @property
    def kept(self) -> list[torch.Tensor]:
        """What is held beside the results."""
        ties = [one for one in self.ties if one is not None]
        return [one.values for one in ties] + [one.view.own for one in ties if one.view is not None]


class Deciders(DispatchMode):
    """Sees operators that look something up, or whose results have a size, or are numbers, that depend on values."""

    LOOK_UP = (
        "index",
        "gather",
        "index_select",
        "take",
        "scatter",
        "embedding",
        "index_put",
        "index_add",
        "index_copy",
    )

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__.strip("_")
        depends = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & set(func.tags)
        self.found = self.found or bool(depends) or name in self.LOOK_UP
        return func(*args, **(kwargs or {}))


class Reference:
    def __init__(self, task: Task, seed: int, device: Device) -> None:
        self.task, self.device, self.seed = task, device, seed
        with away():
            self.model = task.make_model(seed)
        self.attributes = {self.model: Attributes(self.model)}
        plain, own = plain_tensors(self.model), registered(self.model)
        before = {name: value.clone() for name, value in (own | plain).items()}
        buffers = dict(self.model.named_buffers()) | transient_buffers(self.model)
        versions = {name: (buffer, buffer._version) for name, buffer in buffers.items() if name in before}
        self.scalars = ScalarReads()  # whose names no draw may exchange
        tensors = dict(self.model.named_parameters()) | buffers
        self.scalars.follow(tensors, tensors)
        objects, foreign = objects_of(self.model), list[bool]()  # does forward draw numbers that are not torch's?
        with self.scalars:
            changed = changed_by(self.model, lambda: foreign.append(task.check_runs(self.model, compared=True)))
        if added := registered(self.model).keys() - own.keys():
            raise TaskError(f"judging {task.name}", ADDS, min(added), ADDED)
        lasting, now = objects_of(self.model) != objects, plain_tensors(self.model)
        grown = any(not alike(now[key], before[key]) for key in changed)
        other = built_again(task)
        drawn = drawn_at_random(other, {key: before[key] for key in plain})
        # Does it write where no version tells (`.data`)? Then values do.
        hidden = {n for n, (b, version) in versions.items() if b._version == version and not same_values(b, before[n])}
        self.unnoticed = bool(hidden)
        self.plain = sorted({*changed, *filter(is_plain, hidden), *drawn})  # the keys of those that are state
        self.pristine: State = {name: before[name] for name in (*own, *self.plain)}
        self.load(self.model, self.pristine)
        if grown and (gone := remade(task, self.model)):
            self.plain = [key for key in self.plain if key not in gone]
            self.pristine = {name: value for name, value in self.pristine.items() if name not in gone}
        if lasting:
            refuse_lasting(task, self.model, f"judging {task.name}")
        if any(foreign):
            refuse_foreign(task, self.model, self.pristine, f"judging {task.name}")
        refuse_unheld(task, self.model, other, self.pristine, f"judging {task.name}")
        del other, now
        self.written: list[int] | None = None  # see Eager; known after the first run
        self.reads_only = False  # no run has changed its arguments; so is this
        self.wide = in_type(self._copy(), torch.float64)

    @property
    def called(self) -> Callable[..., Any]:
        """The module, to be called with a draw's arguments."""
        return by_place(self.model, self.task.by_name)

    def load(self, model: torch.nn.Module, state: State) -> None:
        """The state, and of all other attributes the objects that the constructor left there."""
        self.attributes.setdefault(model, Attributes(model)).restore()
        load_state(model, state)

    def state_of(self, model: torch.nn.Module) -> State:
        """Every entry of the state as it is now. A plain attribute that is gone has none."""
        plain = plain_tensors(model) if self.plain else {}
        return registered(model) | {key: plain[key] for key in self.plain if key in plain}

    @cached_property
    def single(self) -> torch.nn.Module:
        return in_type(self._copy(), torch.float32)

    def _copy(self) -> torch.nn.Module:
        if not remembers_itself(self.model):
            try:
                return copy.deepcopy(self.model)
            except Exception:
                pass  # some modules cannot be copied
        return self.task.make_model(self.seed)  # built again

    def held(self, state: State) -> State:
        """The state as the module holds it: entries that share memory have one value. What is as in the first state is held once."""
        self.load(self.model, state)
        now, first = self.state_of(self.model), self.pristine
        alike = {name for name in state if name in first and torch.equal(now[name], first[name])}
        return {name: first[name] if name in alike else now[name].clone() for name in state}

    def run_eager(self, arguments: list[Any], state: State, seed: int, count: int = CALLS, moves: bool = True) -> Eager:
        """`count` calls in a row, the state going on; a single one where nothing but a state tells them apart and it need not be
        seen how that `moves`. EagerError when the module raises; torch.OutOfMemoryError when there is not enough for it even
        without what is held in reserve."""
        try:
            return self._run_eager(arguments, state, seed, count, moves)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        return self._run_eager(arguments, state, seed, count, moves)

    def _run_eager(self, arguments: list[Any], state: State, seed: int, count: int, moves: bool) -> Eager:
        self.load(self.model, state)
        held, versions = self.state_of(self.model), self._versions()
        first, pristine, arguments = arguments, arguments, self._lent(arguments)
        seed_all(seed)
        results, drawn, places, after = [], [], [], []
        unsorted, returned = False, Returned()
        before: Versions = []
        for index in range(count):
            if index and isinstance(first, InARow):
                pristine = arguments_of(first, index)
                arguments = self._lent(pristine)
            elif index and not identical(arguments, pristine):
                arguments = blobs_copy(pristine)
            # Aliases: a module may also change the shape of what it was given.
            given = [(tensor.detach(), tensor._version) for tensor in outputs.tensors(arguments)]
            result, record, seconds = self._called(arguments)
            shared = self._shared(result, arguments)
            if not results:
                about = self._about(result, shared)
            else:
                about["shared"].also(shared, returned.again(result), before)
            before = about["shared"].held(before) + versions_of(result)
            if self.written is None:
                self.written = [i for i, (tensor, version) in enumerate(given) if tensor._version != version]
            # what is returned may be the state itself, which moves on
            leaves = [*blobs.leaves(result), *(given[i][0] for i in self.written)]
            written = (
                any(after) or self.unnoticed or self._versions() != versions
            )  # two buffers may change places and back
            once = not index and not written and not record.drawn
            results.append([_own(leaf, once and not any(about["shared"].any)) for leaf in leaves])
            returned.note(result, results[-1], shared.arguments)
            drawn.append(record.drawn)
            places.append(record.places)
            unsorted = unsorted or record.unsorted
            if once:
                results, drawn, places, after = (x * count for x in (results, drawn, places, [{}]))
                break
            after.append({n: v.clone() for n, v in self.state_of(self.model).items()} if written else {})
            if not moves and not record.drawn:
                break
        del held  # until here, so that no other tensor lay where one of them was
        changed = changed_in(after, state)
        lent = arguments is pristine
        if lent and any(tensor._version != version for tensor, version in given):
            raise EagerError("it writes to its arguments, which it did not on other draws")
        modified = [] if lent else [i for i, one in enumerate(arguments) if not identical(one, pristine[i])]
        self.reads_only = not modified and not self.written
        stands = digest(random_state())
        del result, leaves, given
        before = about["shared"].held(before)
        if returned.kept():
            self._called_on(pristine, SHARING_CALLS - 1 - index, returned, before, about["shared"])
        return Eager(
            calls=results,
            after=[{name: states[name] for name in state if name in changed and name in states} for states in after],
            random_state=stands,
            drawn=drawn,
            places=places,
            unsorted=unsorted,
            written=self.written,
            modified=modified,
            seconds=seconds,
            **about,
        )

    def _called_on(
        self, arguments: list[Any], count: int, returned: Returned, before: Versions, shared: Shared
    ) -> None:
        """So many calls more, for where their results lie beside those that were `returned` before, and what they write to."""
        for _ in range(count):
            try:
                result, _, _ = self._called(self._lent(arguments))
            except (EagerError, torch.OutOfMemoryError):  # nobody calls it so often
                return
            shared.also(self._shared(result, []), returned.again(result), before)
            before = before + versions_of(result)

    def _called(self, arguments: list[Any]) -> tuple[Any, Record, float]:
        """The result of a call, what it drew and left open, and its seconds."""
        self.device.synchronize()
        record, start = Record(), time.perf_counter()
        try:
            with record, uncompiled():
                result = self.called(*arguments)
            self.device.synchronize()
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            # A GPU's library, or its driver: a candidate may have taken what they lack, which is no answer of eager's.
            if self.device.lends and NO_MEMORY.search(str(error)):
                raise torch.OutOfMemoryError(first_line(error)) from error
            raise EagerError(first_line(error)) from error
        seconds = time.perf_counter() - start
        if self.device.lends and any(tensor.device.type == "cpu" for tensor in outputs.tensors(result)):
            raise EagerError("a tensor that it returns lies on the host: only memory of the GPU is looked at")
        return result, record, seconds

    def _about(self, result: Any, shared: Shared) -> dict[str, Any]:
        """What Eager says of a result beside its values."""
        leaves = blobs.leaves(result)
        return {
            "structure": structure_of(result),
            "shared": shared,
            "overlapping": outputs.self_overlapping(result),
            "ordered": [isinstance(leaf, torch.Tensor) and leaf.is_contiguous() for leaf in leaves],
            "sharing": sharing(outputs.spans(result)),
        }

    def _shared(self, result: Any, arguments: list[Any]) -> Shared:
        mine = [*self.model.parameters(), *self.model.buffers(), *plain_tensors(self.model).values()]
        return Shared.of(result, outputs.tensors(arguments), mine)

    def _lent(self, arguments: list[Any]) -> list[Any]:
        """Copies, which the module may write to; large arguments of one that has been seen not to write to any are lent."""
        large = sum(tensor.nbytes for tensor in outputs.tensors(arguments)) > COPIED_BYTES
        return arguments if large and self.reads_only else blobs_copy(arguments)

    def integers_decide(self, arguments: list[Any], state: State) -> bool:
        """Do integers among these arguments say what is looked up, or, as far as operators tell, what is done?"""
        if not any(is_whole(tensor) for tensor in outputs.tensors(arguments)):
            return False
        self.load(self.model, state)
        with Deciders() as mode, uncompiled():
            self.called(*blobs_copy(arguments))
        return mode.found

    def _versions(self) -> list[tuple[int, int]]:
        """Changes whenever an entry of the state is written to or replaced."""
        return [(value.data_ptr(), value._version) for value in self.state_of(self.model).values()]

    def run_truth(
        self,
        arguments: list[Any],
        state: State,
        eager: Eager,
        move: Callable[[torch.Tensor], torch.Tensor],
        widths: Widths = WIDER,
        anywhere: bool = True,
    ) -> Truth:
        """The same calls in double; `move` widens the arguments, and may change them (see half_ulp.py). With `SINGLE`
        the module runs in fp32 where it names narrower types. `anywhere`: on the host where the device's memory is too small. Large
        arguments are lent as they are where the module bears that, and nobody writes to them."""
        model = self._model(widths)
        large = sum(tensor.nbytes for tensor in outputs.tensors(arguments)) > COPIED_BYTES
        if large and move is widen and not eager.modified and not eager.written:
            try:
                return self._replay(model, arguments, state, eager, None, widths)
            except (TruthError, torch.OutOfMemoryError):  # it may ask for one type of all its arguments
                torch.cuda.empty_cache()
        try:
            return self._replay(model, arguments, state, eager, move, widths)
        except torch.OutOfMemoryError:
            if not anywhere:
                raise
            torch.cuda.empty_cache()
        try:
            self._move(model, CPU)
            on_host = replace(eager, drawn=blobs.moved(eager.drawn, CPU))
            arguments, state = moved_in_a_row(arguments, CPU), blobs.moved(state, CPU)
            return replace(self._replay(model, arguments, state, on_host, move, widths), on_host=True)
        finally:
            self._move(model, self.device.where)

    def _move(self, model: torch.nn.Module, where: torch.device) -> None:
        """And the buffers that the constructor left there, which `load` puts back."""
        self.attributes.setdefault(model, Attributes(model)).restore()
        model.to(where)
        self.attributes[model] = Attributes(model)

    def run_samples(self, eager: Eager, move: Callable[[torch.Tensor], torch.Tensor], widths: Widths = WIDER) -> Run:
        """As run_truth, for some of the samples and what the state holds of them: for slices.py. With no widths the module runs
        in its own precision."""

        def run(arguments: list[Any], state: State) -> tuple[list[list[Any]], list[State]]:
            truth = self._replay(self._model(widths), arguments, state, eager, move, widths)
            return truth.calls, truth.after

        return run

    def _model(self, widths: Widths) -> torch.nn.Module:
        return self.wide if widths is WIDER else self.single if widths else self.model

    def _replay(
        self,
        model: torch.nn.Module,
        arguments: list[Any],
        state: State,
        eager: Eager,
        move: Callable[[torch.Tensor], torch.Tensor] | None,
        widths: Widths,
    ) -> Truth:
        """`move`: none where the arguments are lent."""
        given = self._put(model, state, widths)
        calls, ties, after = [], [], []
        for index in range(len(eager.calls)):
            if index and eager.repeats:
                calls.append(calls[0])
                after.append({})
                continue
            if index == 0 or eager.modified or eager.written or isinstance(arguments, InARow):
                own = arguments_of(arguments, index)
                wide = map_leaves(own, partial(_fresh, move=move, widths=widths)) if move else own
            left = [tensor.detach() for tensor in outputs.tensors(wide)]
            first, named = split(wide, self.task.by_name)
            call = partial(model, *first, **named)
            if given:
                call = partial(functional_call, model, given, tuple(first), named, tie_weights=False)
            with uncompiled():
                result, orders = run_wide(call, eager.drawn[index], widths, eager.places[index])
            leaves = [widen(leaf, widths) for leaf in [*blobs.leaves(result), *(left[i] for i in eager.written)]]
            if index == 0:
                ties = [orders.of(leaf) if isinstance(leaf, torch.Tensor) else None for leaf in leaves]
            if eager.state:
                leaves = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            calls.append(leaves)
            now = given or self.state_of(model)
            after.append({name: widen(now[name], widths).clone() for name in eager.state})
        if len(calls[0]) != len(eager.calls[0]):
            raise TruthError("in double the module returns another number of outputs")
        return Truth(calls, after, ties)

    def _put(self, model: torch.nn.Module, state: State, widths: Widths) -> State:
        """Puts a state into a module. A few channels of the weights do not fit there: they are returned, for each call."""
        if any(self.pristine[name].shape != value.shape for name, value in state.items()):
            return {name: widen(value, widths).clone() for name, value in state.items()}
        with torch.no_grad():
            # Parameters and buffers widen as they are copied.
            self.load(model, {n: widen(value, widths) if is_plain(n) else value for n, value in state.items()})
        return {}


def in_type(model: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
    """As `.double()`, but that gives each name of a buffer memory of its own: what forward writes to one would not stand in the
    other."""
    made: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # by identity: itself, in the other type

    def once(x: torch.Tensor) -> torch.Tensor:
        return made.setdefault(id(x), (x, x.to(dtype) if x.is_floating_point() else x))[1]

    return model._apply(once)


def changed_in(states: list[State], before: State) -> set[str]:
    """The entries that have another value, type or shape in one of the states."""
    names = [name for state in states for name in state]
    now = blobs.on_host([value for state in states for value in state.values()])
    then = dict(zip(before, blobs.on_host(list(before.values())), strict=True)) if names else {}
    return {name for name, value in zip(names, now, strict=True) if not identical(value, then[name])}


def blobs_copy(arguments: list[Any]) -> list[Any]:
    """Fresh memory for every tensor, its strides kept and how far it begins behind an aligned address: eager may refuse either."""
    return map_leaves(arguments, _copied)


def _own(leaf: Any, untouched: bool) -> Any:
    """A result in memory of its own. `untouched`: nobody else has it, and it will not be written to."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return leaf.detach() if untouched and leaf.nbytes > COPIED_BYTES and leaf.is_contiguous() else leaf.clone()


def _copied(x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        return x
    if x.data_ptr() % ALIGNED:
        form = form_of(x)
        tell_of_memory(form, [x])
        return make(form).copy_(x)
    if x.is_contiguous() or torch._debug_has_internal_overlap(x):  # the latter are passed on as dense ones
        return x.clone(memory_format=torch.contiguous_format)
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)


def _fresh(x: Any, move: Callable[[torch.Tensor], torch.Tensor], widths: Widths) -> Any:
    """The same, moved, in memory of its own; contiguous floats that are widened anyway are not copied before."""
    floats = isinstance(x, torch.Tensor) and x.is_floating_point()
    if floats and x.is_contiguous() and x.dtype in widths:
        return move(x)
    return move(_copied(x)) if floats else _copied(x)
