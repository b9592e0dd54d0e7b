"""The user's module, run in its own precision (eager) and in double (truth), from a given state and a given seed."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch

from mtmc import blobs, outputs
from mtmc.blobs import structure_of
from mtmc.device import Device, generator_on, random_state
from mtmc.draws import map_floats
from mtmc.task import Task, first_line
from mtmc.truth import WIDER, Record, Ties, TruthError, Widths, run_wide, widen

State = dict[str, torch.Tensor]
CALLS = 2  # a module with state is called twice from the same state
PIECE = 1 << 26  # elements that are moved at a time


class EagerError(Exception):
    """The module itself raises on these arguments."""


@dataclass
class Eager:
    """What eager returned, call by call, and what it did to its surroundings."""

    calls: list[list[Any]]  # leaves of each call's result
    state: State  # the entries that the calls changed
    structure: str
    random_state: str
    drawn: list[list[Any]]
    modified: list[int]  # arguments that eager itself changes
    aliases: bool  # eager's own output shares memory with an argument or a weight
    overlapping: list[bool]
    seconds: float  # of the last call


@dataclass
class Truth:
    calls: list[list[Any]]
    state: State
    ties: list[Ties | None] = field(default_factory=list)  # per leaf of the first call


def second_weights(state: State, seed: int) -> State:
    """Other values for every float entry, of the same size and sign conventions: nothing that is 0 or 1 stays so."""
    generators = {value.device: generator_on(value.device, seed) for value in state.values()}

    def moved(name: str, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point():
            return value.clone()
        scale = float(value.float().abs().mean()) or 1.0
        noise = torch.randn(value.shape, generator=generators[value.device], device=value.device) * 0.3 * scale
        other = value.float() + noise
        return (other.abs() if bool((value >= 0).all()) else other).to(value.dtype)

    return {name: moved(name, value) for name, value in state.items()}


class Reference:
    def __init__(self, task: Task, seed: int, device: Device) -> None:
        self.task, self.device = task, device
        self.model = task.make_model(seed)
        self.pristine: State = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.seed = seed
        self.wide = self._copy().double()

    @cached_property
    def single(self) -> torch.nn.Module:
        return self._copy().float()

    def _copy(self) -> torch.nn.Module:
        try:
            return copy.deepcopy(self.model)
        except Exception:  # some modules cannot be copied: they are built again
            return self.task.make_model(self.seed)

    def run_eager(self, arguments: list[Any], state: State, seed: int) -> Eager:
        self.model.load_state_dict(state)
        versions = self._versions()
        arguments = blobs_copy(arguments)
        given = [blobs.digest(argument) for argument in arguments]
        torch.manual_seed(seed)
        results, drawn = [], []
        for _ in range(CALLS):
            self.device.synchronize()
            record, start = Record(), time.perf_counter()
            try:
                with record:
                    result = self.model(*arguments)
                self.device.synchronize()
            except Exception as error:
                raise EagerError(first_line(error)) from error
            seconds = time.perf_counter() - start
            if not results:
                mine = [*outputs.tensors(arguments), *self.model.parameters(), *self.model.buffers()]
                aliases = outputs.overlaps(outputs.tensors(result), mine)
            results.append(result)
            drawn.append(record.drawn)
            if self._versions() == versions and not record.drawn:
                results, drawn = results * CALLS, drawn * CALLS
                break
        after, changed = self.model.state_dict(), self._versions() != versions
        return Eager(
            calls=[
                [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in blobs.leaves(r)] for r in results
            ],
            state={n: after[n].clone() for n in state if blobs.digest(after[n]) != blobs.digest(state[n])}
            if changed
            else {},
            structure=structure_of(results[0]),
            random_state=blobs.digest(random_state()),
            drawn=drawn,
            modified=[i for i, argument in enumerate(arguments) if blobs.digest(argument) != given[i]],
            aliases=aliases,
            overlapping=outputs.self_overlapping(results[0]),
            seconds=seconds,
        )

    def _versions(self) -> list[tuple[int, int]]:
        """Changes whenever an entry of the state is written to or replaced."""
        return [(value.data_ptr(), value._version) for value in self.model.state_dict().values()]

    def run_truth(
        self,
        arguments: list[Any],
        state: State,
        eager: Eager,
        move: Callable[[torch.Tensor], torch.Tensor],
        widths: Widths = WIDER,
    ) -> Truth:
        """The same calls in double; `move` widens the arguments, and may change them (see `half_an_ulp`). With `SINGLE`
        the module runs in fp32 where it names narrower types. On the host where the device's memory is too small."""
        model = self.wide if widths is WIDER else self.single
        try:
            return self._replay(model, arguments, state, eager, move, widths)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        try:
            model.to("cpu")
            on_host = replace(eager, drawn=blobs.moved(eager.drawn, torch.device("cpu")))
            arguments, state = blobs.moved(arguments, torch.device("cpu")), blobs.moved(state, torch.device("cpu"))
            return self._replay(model, arguments, state, on_host, move, widths)
        finally:
            model.to(self.device.where)

    def _replay(
        self,
        model: torch.nn.Module,
        arguments: list[Any],
        state: State,
        eager: Eager,
        move: Callable[[torch.Tensor], torch.Tensor],
        widths: Widths,
    ) -> Truth:
        with torch.no_grad():
            model.load_state_dict({name: widen(value, widths) for name, value in state.items()})
        wide = map_floats(blobs_copy(arguments), move)
        calls, ties = [], []
        for index in range(CALLS):
            if index and not eager.state and not eager.drawn[0]:
                calls.append(calls[0])
                continue
            result, found = run_wide(lambda: model(*wide), eager.drawn[index], widths)
            calls.append([widen(leaf, widths) for leaf in blobs.leaves(result)])
            if index == 0:
                ties = [found.get(leaf.data_ptr()) if isinstance(leaf, torch.Tensor) else None for leaf in calls[0]]
        if len(calls[0]) != len(eager.calls[0]):
            raise TruthError("in double the module returns another number of outputs")
        after = model.state_dict()
        return Truth(calls, {name: widen(after[name], widths).clone() for name in eager.state}, ties)


def half_an_ulp(seed: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Widens a tensor and moves each element by half a unit in the last place of its own type, up or down."""
    generators: dict[torch.device, torch.Generator] = {}

    def move(x: torch.Tensor) -> torch.Tensor:
        generator = generators.setdefault(x.device, generator_on(x.device, seed))
        wide = x.to(torch.float64, copy=True)
        for part in wide.view(-1).split(PIECE) if wide.is_contiguous() else [wide]:
            up = torch.randint(0, 2, part.shape, generator=generator, device=x.device, dtype=torch.int8)
            part.mul_(1 + (up.double() * 2 - 1) * torch.finfo(x.dtype).eps / 2)
        return wide

    return move


def blobs_copy(arguments: list[Any]) -> list[Any]:
    """Fresh memory for every tensor, strides kept."""

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.clone(memory_format=torch.preserve_format) if value.is_contiguous() else _same_strides(value)
        if isinstance(value, dict):
            return {key: copied(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [copied(part) for part in value]
        return value

    return [copied(argument) for argument in arguments]


def _same_strides(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)
