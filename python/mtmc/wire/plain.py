"""Tensors of a module that no state_dict holds, and yet state where forward changes them: plain attributes, and buffers that
are not persistent (the cache of a decoder, a counter).

Their key is the dotted name behind a point, `.rnn.hidden`, and for the tensors of a tuple or a list with their place,
`.rnn.state.0`: names that no state_dict has. A module's state is what state_dict holds and these.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from mtmc.wire.entries import State, load

TENSORS = ("_parameters", "_buffers")
TABLES = (*TENSORS, "_modules")


def is_plain(key: str) -> bool:
    return key.startswith(".")


def plain_tensors(model: torch.nn.Module) -> State:
    """All of them by key, attributes first."""
    return attribute_tensors(model) | transient_buffers(model)


def attribute_tensors(model: torch.nn.Module) -> State:
    """Those that are neither parameters nor buffers, in the order in which they were made."""
    found: State = {}
    registered = {id(value) for module in torch.nn.Module.modules(model) for value in _registered(module)}
    for prefix, module in torch.nn.Module.named_modules(model):
        for name, value in module.__dict__.items():
            if name in TABLES or not name.isidentifier():
                continue
            key = f".{prefix}.{name}" if prefix else f".{name}"
            several = type(value) in (tuple, list)
            for index, leaf in enumerate(value) if several else [(None, value)]:
                if isinstance(leaf, torch.Tensor) and id(leaf) not in registered:
                    found[key if index is None else f"{key}.{index}"] = leaf
    return found


def transient_buffers(model: torch.nn.Module) -> State:
    """The buffers that are not persistent. One that is also a parameter or a persistent buffer is state by that name."""
    modules = list(torch.nn.Module.named_modules(model))
    saved = {id(value) for _, module in modules for value in _saved(module)}
    found: State = {}
    for prefix, module in modules:
        for name, value in transient(module).items():
            if isinstance(value, torch.Tensor) and id(value) not in saved:
                found[f".{prefix}.{name}" if prefix else f".{name}"] = value
    return found


def _registered(module: torch.nn.Module) -> Iterable[Any]:
    return [value for table in ("_parameters", "_buffers") for value in module.__dict__.get(table, {}).values()]


def transient(module: torch.nn.Module) -> dict[str, Any]:
    """The buffers of one module that are not persistent, by name; None for those that are still to come."""
    names = module.__dict__.get("_non_persistent_buffers_set", ())
    return {name: value for name, value in module.__dict__.get("_buffers", {}).items() if name in names}


def _saved(module: torch.nn.Module) -> list[Any]:
    buffers, others = module.__dict__.get("_buffers", {}), transient(module)
    own = [value for name, value in buffers.items() if name not in others]
    return [*module.__dict__.get("_parameters", {}).values(), *own]


def is_buffer(model: torch.nn.Module, key: str) -> bool:
    owner, name, index = _place(model, key)
    return index is None and name in owner.__dict__.get("_buffers", {})


def put(model: torch.nn.Module, values: State) -> None:
    """Puts tensors where the module has attributes or buffers of these keys; a tuple or list is made again, of its own type, with
    the tensors that are given."""
    for key, value in values.items():
        owner, name, index = _place(model, key)
        if is_buffer(model, key):
            owner.__dict__["_buffers"][name] = value
        elif index is None:
            owner.__dict__[name] = value
        else:
            held = owner.__dict__[name]
            owner.__dict__[name] = type(held)([*held[:index], value, *held[index + 1 :]])


def get(model: torch.nn.Module, key: str) -> torch.Tensor | None:
    """What is there now; None where it is no tensor any more."""
    owner, name, index = _place(model, key)
    value = owner.__dict__.get("_buffers", {}).get(name, owner.__dict__.get(name))
    if index is not None:
        value = value[index] if type(value) in (tuple, list) and index < len(value) else None
    return value if isinstance(value, torch.Tensor) else None


def _place(model: torch.nn.Module, key: str) -> tuple[torch.nn.Module, str, int | None]:
    path, _, last = key[1:].rpartition(".")
    index = int(last) if last.isdigit() else None
    if index is not None:
        path, _, last = path.rpartition(".")
    return torch.nn.Module.get_submodule(model, path), last, index


def changed_by(model: torch.nn.Module, call: Callable[[], Any]) -> list[str]:
    """The keys of what a call assigns anew or writes to; what is no tensor before it or behind it does not count."""
    before = plain_tensors(model)  # held, so that no identity is used again
    versions = {key: value._version for key, value in before.items()}
    call()
    after = plain_tensors(model)
    return [k for k, v in before.items() if k in after and (after[k] is not v or v._version != versions[k])]


def load_state(model: torch.nn.Module, state: State, strict: bool = True) -> None:
    """load_state_dict, and of plain attributes copies, since forward may write to them. Buffers that have grown since are made
    anew before: those that are not persistent get their values where they lie, too, since other names may share them."""
    fit_buffers(model, state)
    load(model, {key: value for key, value in state.items() if not is_plain(key)}, strict=strict)
    for key, value in state.items():
        if not is_plain(key):
            continue
        held = get(model, key) if is_buffer(model, key) else None
        if held is None or torch._debug_has_internal_overlap(held):  # an expanded one cannot be written to
            put(model, {key: value.clone()})
        else:
            with torch.no_grad():
                held.copy_(value)


def fit_buffers(model: torch.nn.Module, state: State) -> None:
    """Buffers that forward gave another shape have that of the state again, whatever they hold: values are copied into them."""
    for key in filter(is_plain, state):
        held = get(model, key)
        if held is not None and held.shape != state[key].shape:
            put(model, {key: held.new_empty(state[key].shape)})
    grown = {name: held for name, held in torch.nn.Module.named_buffers(model, remove_duplicate=False) if name in state}
    for name, held in grown.items():
        if held.shape != state[name].shape:
            path, _, last = name.rpartition(".")
            owner = torch.nn.Module.get_submodule(model, path)
            owner.__dict__["_buffers"][last] = held.new_empty(state[name].shape)


class PlainTable(Mapping[str, Any]):
    """What no state_dict holds, by key, as it is at the moment of asking."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model

    def __getitem__(self, key: str) -> Any:
        return get(self.model, key)

    def __iter__(self) -> Iterator[str]:
        return iter(plain_tensors(self.model))

    def __len__(self) -> int:
        return len(plain_tensors(self.model))


class Attributes:
    """What a module's attributes are beside its submodules: `restore` puts the same objects back, and into lists, dicts and sets,
    those of hooks included, what they held. Without `tensors` parameters and buffers are left alone."""

    def __init__(self, model: torch.nn.Module, tensors: bool = True) -> None:
        self.kept = [(module, self._of(module)) for module in model.modules()]
        tables = [module.__dict__.get(name, {}) for module, _ in self.kept for name in TENSORS if tensors]
        self.tables = [(table, table.copy()) for table in tables]
        values = [value for _, kept in self.kept for value in kept.values()]
        self.lists = [(value, value.copy()) for value in values if type(value) is list]
        self.dicts = [(value, value.copy()) for value in values if type(value) in (dict, OrderedDict, set)]

    def restore(self) -> None:
        for table, entries in self.tables:
            table.clear()
            table.update(entries)
        for module, kept in self.kept:
            for name in self._of(module).keys() - kept.keys():
                del module.__dict__[name]
            module.__dict__.update(kept)
        for items, held in self.lists:
            items[:] = held
        for table, entries in self.dicts:
            table.clear()
            table.update(entries)

    @staticmethod
    def _of(module: torch.nn.Module) -> dict[str, Any]:
        return {name: value for name, value in module.__dict__.items() if name not in TABLES}
