"""A module's state while it is exported: plain attributes as buffers, and numbers read from the state as constants."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from mtmc.device.random_state import other_random_states
from mtmc.task.lasting import ADDED, ADDS, alike
from mtmc.task.plain_state import built_again, drawn_at_random
from mtmc.task.scalars import ScalarReads
from mtmc.task.task import Task
from mtmc.trace.parameters import all_by_place
from mtmc.trace.structure import taken_apart
from mtmc.wire.by_name import by_place
from mtmc.wire.plain import Attributes, State, attribute_tensors, get, is_plain, plain_tensors, put
from mtmc.wire.task_error import TaskError

BUFFER = "_plain_attribute_"
RENAMED = "_named_"
# What torch's own exported modules have under these names: code, graph and others.
TAKEN = set(dir(torch.fx.GraphModule(torch.nn.Module(), torch.fx.Graph()))) - set(dir(torch.nn.Module()))


@dataclass
class Exported:
    """How export will see the state: `keys` by the buffer that stands for each, the entries read as numbers, the keys of what
    forward also returns, and what the module itself calls those of its parts that have another name for export. `remade`: the keys of
    what forward makes anew in another shape or type, a table that grows: no state, as long as nothing but its first call sees that. `foreign`: does
    forward draw random numbers that are not torch's?"""

    keys: dict[str, str]
    scalars: ScalarReads = field(default_factory=ScalarReads)
    returned: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    remade: set[str] = field(default_factory=set)
    foreign: bool = False

    def key(self, target: str) -> str:
        """The key of a parameter or buffer that export calls so."""
        first, dot, rest = target.partition(".")
        return self.keys.get(target, self.renamed.get(first, first) + dot + rest)


@contextlib.contextmanager
def exportable(task: Task, model: torch.nn.Module, keys: Iterable[str], count: int) -> Iterator[Exported]:
    """The model with a forward that takes the plain attributes `keys` from buffers and leaves their new values there, and all of
    its `count` arguments by their places."""
    seen = Exported({f"{BUFFER}{index}": key for index, key in enumerate(keys)})
    before, forward, plain = Attributes(model), model.forward, attribute_tensors(model)
    for name, key in seen.keys.items():
        model.register_buffer(name, plain[key].detach().clone())
    values = {seen.keys.get(name, name): tensor for name, tensor in registered_tensors(model).items()}
    shapes = {name: tensor.shape for name, tensor in values.items()}

    twice = SecondNames(model)
    parts = [*model._parameters, *model._buffers, *model._modules]
    seen.renamed = {f"{RENAMED}{name}": name for name in parts if name in TAKEN}

    called = by_place(forward, task.by_name)

    @functools.wraps(forward)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        rename(model, seen.renamed)
        twice.put_back()
        here = {seen.keys.get(name, name): tensor for name, tensor in registered_tensors(model).items()}
        seen.scalars.follow(here, values)
        put(model, {key: here[key] for key in seen.keys.values()})
        buffers = [(prefix, module, dict(module._buffers)) for prefix, module in model.named_modules()]
        weights = [(prefix, module, dict(module._parameters)) for prefix, module in model.named_modules()]
        others = {} if seen.keys else {key: get(model, key) for key in plain}
        try:
            before_call = other_random_states()
            with seen.scalars, unwatched_buffers():
                result = taken_apart(called(*args, **kwargs))
            seen.foreign = seen.foreign or other_random_states() != before_call
            if lost := [key[1:] for key, value in others.items() if get(model, key) is not value]:
                raise TaskError(f"tracing {task.name}", f"forward changes the tensor attribute {lost[0]}")
            results = pytree.tree_leaves(result)
            seen.returned = {key for key in seen.keys.values() if is_one_of(get(model, key), results)}
            refuse_new_parameters(task, weights)
            refuse_resized(task, here, shapes)
            seen.remade = keep_new_values(task, model, {key: here[key] for key in seen.keys.values()})
            seen.remade |= keep_new_buffers(task, buffers)
            return result
        finally:
            inside.restore()
            for _, module, held in buffers:
                module._buffers.clear()
                module._buffers.update(held)
            twice.take_away()
            rename(model, {name: other for other, name in seen.renamed.items()})

    if task.by_name:
        parameters = task.forward_signature.parameters
        wrapped.__signature__ = all_by_place(parameters, count, task.by_name)  # type: ignore[attr-defined]
    model.forward = wrapped
    inside = Attributes(model, tensors=False)  # export itself follows these
    twice.take_away()
    rename(model, {name: other for other, name in seen.renamed.items()})
    try:
        yield seen
        refuse_resized(task, values, shapes)
    finally:
        rename(model, seen.renamed)
        twice.put_back()
        before.restore()


def rename(model: torch.nn.Module, names: dict[str, str]) -> None:
    """Its own parameters, buffers and submodules, in their order."""
    for table in (model._parameters, model._buffers, model._modules) if names else ():
        entries = {names.get(name, name): value for name, value in table.items()}
        table.clear()
        table.update(entries)
    model._non_persistent_buffers_set = {names.get(name, name) for name in model._non_persistent_buffers_set}


def is_one_of(tensor: torch.Tensor | None, results: list[Any]) -> bool:
    """Would a caller who writes to a result write to the tensor?"""
    own = [tensor] if tensor is None or tensor._base is None else [tensor, tensor._base]
    tensors = [result for result in results if isinstance(result, torch.Tensor)]
    return any(result is one or result._base is one for result in tensors for one in own if one is not None)


def registered_tensors(model: torch.nn.Module) -> State:
    """Its parameters and buffers, under each of their names."""
    return dict(model.named_parameters(remove_duplicate=False)) | dict(model.named_buffers(remove_duplicate=False))


def keep_new_values(task: Task, model: torch.nn.Module, buffers: State) -> set[str]:
    """The new values of plain attributes are what the buffers that stand for them hold. Returns the keys of those that are remade."""
    new, remade = {}, set()
    for key, buffer in buffers.items():
        value = get(model, key)
        if value is None:
            raise other_type(task, f"tensor attribute {key[1:]}", value, buffer)
        if not alike(value, buffer):
            remade.add(key)
        elif value is not buffer:
            new[key] = value.clone()  # it may be what another attribute held
    for key, value in new.items():
        buffers[key].copy_(value)
    return remade


@contextlib.contextmanager
def unwatched_buffers() -> Iterator[None]:
    """Export watches for buffers that are assigned anew: it sees those of the root alone, and takes one that is new for others."""
    hooks = torch.nn.modules.module._global_buffer_registration_hooks
    before = hooks.copy()
    hooks.clear()
    try:
        yield
    finally:
        hooks.update(before)


def keep_new_buffers(task: Task, buffers: list[tuple[str, torch.nn.Module, dict[str, Any]]]) -> set[str]:
    """The new values of buffers that forward assigned anew are what the old ones hold. One that it registers, such as a mask, is
    no state: what later calls make of it is compared with eager. Nor is one that it remakes and no state_dict holds: returned are
    the keys of those."""
    new, remade = [], set()
    for prefix, module, before in buffers:
        for name, value in module._buffers.items():
            old, path = before.get(name), f"{prefix}.{name}".lstrip(".")
            persistent = name not in module._non_persistent_buffers_set
            if old is None and value is not None and persistent:
                raise TaskError(f"tracing {task.name}", ADDS, path, ADDED)
            if old is not None and value is not old:
                if value is None or not alike(value, old):
                    if persistent or value is None:
                        raise other_type(task, f"buffer {path}", value, old)
                    remade.add(f".{path}")
                    continue
                new.append((old, value.clone()))  # it may be what another one held
    for old, value in new:
        old.copy_(value)
    return remade


def refuse_new_parameters(task: Task, parameters: list[tuple[str, torch.nn.Module, dict[str, Any]]]) -> None:
    for prefix, module, before in parameters:
        for name in before | module._parameters:
            old, now, path = before.get(name), module._parameters.get(name), f"{prefix}.{name}".lstrip(".")
            if old is None and now is not None:
                raise TaskError(f"tracing {task.name}", ADDS, path, ADDED)
            if old is not None and now is not old:
                wrong, wanted = (
                    "forward puts something else in a parameter's place",
                    "a variable, or a buffer for what forward changes",
                )
                raise TaskError(f"tracing {task.name}", wrong, path, wanted)


def refuse_resized(task: Task, tensors: State, shapes: dict[str, torch.Size]) -> None:
    for key, tensor in tensors.items():
        if tensor.shape != shapes[key]:
            now = list(tensor.shape)
            with torch.no_grad():
                tensor.resize_(shapes[key])
            got, wanted = (
                f"{key.lstrip('.')}: {list(shapes[key])}, then {now}",
                "its last shape from the constructor on",
            )
            raise TaskError(f"tracing {task.name}", "forward resizes a tensor of the module", got, wanted)


def other_type(task: Task, what: str, now: torch.Tensor | None, before: torch.Tensor) -> TaskError:
    got = "no tensor" if now is None else f"{now.dtype} {list(now.shape)}"
    wrong = f"forward gives the {what} another type or shape"
    wanted = f"{before.dtype} {list(before.shape)}, as before (or, of a table that was too short, persistent=False)"
    return TaskError(f"tracing {task.name}", wrong, got, wanted)


class SecondNames:
    """Of modules and buffers that are registered under several names, all but the first, when any of the module's buffers are:
    export cannot say which of them forward writes to. They are taken away while export looks, and there for forward."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.tables: list[tuple[dict[str, Any], list[str]]] = []  # with their names, in order
        self.places: list[tuple[dict[str, Any], str, Callable[[], Any]]] = []  # a second name, and what it is a name of
        first: dict[int, tuple[dict[str, Any], str]] = {}

        def look(module: torch.nn.Module) -> None:
            first[id(module)] = ({}, "")
            self.tables += [(table, list(table)) for table in (module._modules, module._buffers)]
            for name, value in module._buffers.items():
                if value is not None and id(value) in first:
                    table, other = first[id(value)]
                    self.places.append((module._buffers, name, partial(table.__getitem__, other)))
                first.setdefault(id(value), (module._buffers, name))
            for name, part in module._modules.items():
                if part is not None and id(part) not in first:
                    look(part)
                elif part is not None and any(True for _ in part.buffers()):
                    self.places.append((module._modules, name, partial(lambda held: held, part)))

        look(model)

    def take_away(self) -> None:
        for table, name, _ in self.places:
            del table[name]

    def put_back(self) -> None:
        for table, name, held in self.places:
            table[name] = held()
        for table, names in self.tables if self.places else ():
            entries = {name: table[name] for name in names}
            table.clear()
            table.update(entries)


def expression(key: str) -> str:
    """The Python text that reaches an entry of the state from `self`."""
    path, _, last = key.lstrip(".").rpartition(".")
    index = ""
    if is_plain(key) and last.isdigit():
        index = f"[{last}]"
        path, _, last = path.rpartition(".")
    parts = path.split(".") if path else []
    if all(part.isidentifier() for part in [*parts, last]):
        return ".".join(["self", *parts, last]) + index
    return f"getattr(self.get_submodule({path!r}), {last!r}){index}"


def state_updates(exported: ExportedProgram, seen: Exported) -> set[str]:
    targets = exported.graph_signature.buffers_to_mutate.values()
    return {seen.key(target) for target in targets}


def constant_attributes(task: Task, model: torch.nn.Module, exported: ExportedProgram, seen: Exported) -> set[str]:
    """The plain attributes that are the same in every module and after every call. What the constructor draws at random is
    part of the state: no other module has it."""
    kept = set(seen.keys.values()) - state_updates(exported, seen)
    return kept - set(drawn_at_random(built_again(task), attribute_tensors(model))) if kept else kept


def scalar_checks(task: Task, model: torch.nn.Module, exported: ExportedProgram, seen: Exported) -> list[str]:
    """The statements that refuse another value of what was read as a number."""
    lines = []
    tensors = registered_tensors(model) | plain_tensors(model)
    for key in sorted(seen.scalars.names):
        if key in state_updates(exported, seen):
            wrong = f"forward reads {key.lstrip('.')} as a Python number and changes it, too"
            raise TaskError(f"tracing {task.name}", wrong, "", "arithmetic on tensors, or a number that stays")
        here, value = expression(key), tensors[key].tolist()
        message = f'f"running {task.name}: {key.lstrip(".")} is fixed: got {{{here}.tolist()!r}}, wanted {value!r}"'
        lines.append(f"if repr({here}.tolist()) != {repr(value)!r}: raise ValueError({message})")
    return lines
