"""Importing a kernel file and giving its ModelNew the task's weights."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

from mtmc.device.device import made_on
from mtmc.device.random_state import seed_all
from mtmc.device.unfilled import built
from mtmc.guest.failures import classify
from mtmc.wire.arguments import load_arguments
from mtmc.wire.entries import Entries, own_entries
from mtmc.wire.forms import Form
from mtmc.wire.plain import PlainTable, State, fit_buffers, get, is_plain, load_state, plain_tensors, put

_DATA, _COPY = torch._C.TensorBase.data, torch._C.TensorBase.copy_  # kept before the candidate comes


class Refused(Exception):
    """A reason word and a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason, self.message = reason, message
        super().__init__(f"{reason}: {message}")


def import_candidate(file: Path) -> type[torch.nn.Module]:
    """Runs the file and finds ModelNew."""
    spec = importlib.util.spec_from_file_location("candidate", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise Refused(*classify(error, "import-error", file)) from error
    found = getattr(module, "ModelNew", None)
    if not (isinstance(found, type) and issubclass(found, torch.nn.Module)):
        raise Refused("missing-ModelNew", "the file defines no class ModelNew that is a torch.nn.Module")
    return found


def construct(
    cls: type[torch.nn.Module], folder: Path, file: Path, seed: int, where: torch.device, given: Collection[str]
) -> torch.nn.Module:
    """ModelNew with the task's constructor arguments, under a seed that is not the reference's, on a device. `given`: entries
    of the state that come later: large weights of theirs have no values yet."""
    given = [name for name in given if not is_plain(name)]
    saved, hidden = (folder / "init.pickle").read_bytes(), (folder / "hidden").read_text()

    def make() -> torch.nn.Module:
        seed_all(seed)
        args, kwargs = load_arguments(saved, hidden, sys.modules["candidate"])
        return cls(*args, **kwargs)

    try:
        model, _ = made_on(where, lambda: built(make, given))
        return model if where.type == "cpu" else torch.nn.Module.to(model, where)
    except (Exception, SystemExit) as error:
        raise Refused(*classify(error, "import-error", file)) from error


def entries_of(model: torch.nn.Module, names: dict[str, str]) -> Entries:
    """The entries that the reference has, under its names. Those that only the module's hooks know come from state_dict."""
    if not names:
        return {}
    own = own_entries(model)
    if any(map(is_plain, names.values())):  # takes as long as all else
        own |= {key: (PlainTable(model), key) for key in plain_tensors(model)}
    if not all(mine in own for mine in names.values() if not is_plain(mine)):
        own = {**own, **{name: (table, name) for table in [model.state_dict()] for name in table if name not in own}}
    return {name: own[mine] for name, mine in names.items() if mine in own}


def match(model: torch.nn.Module, state: dict[str, Form]) -> tuple[str, dict[str, str]]:
    """Where the reference's state belongs: by name, else by constructor order. Returns how, and reference name -> own name.
    What no state_dict of the reference's holds belongs where the model has it, be it in its state_dict: who does without is
    judged by what it returns."""
    own: State = {name: table[key] for name, (table, key) in own_entries(model).items()}
    beside = {f".{name}": (name, value) for name, value in own.items()}
    beside |= {key: (key, value) for key, value in plain_tensors(model).items()}
    attributes = {key: beside[key][0] for key, form in state.items() if key in beside and _fits(beside[key][1], form)}
    state = {name: form for name, form in state.items() if not is_plain(name)}
    if not state:
        return "none", attributes
    if not all(name in own for name in state):
        own = {name: value for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}
    if all(name in own and _fits(own[name], form) for name, form in state.items()):
        names = {name: name for name in state}
    elif len(own) == len(state) and all(map(_fits, own.values(), state.values())):
        names = dict(zip(state, own, strict=True))
    else:
        raise Refused("weights-mismatch", _difference(own, state))
    return "by-name" if all(a == b for a, b in names.items()) else "by-order", names | attributes


def load_weights(model: torch.nn.Module, state: State, names: dict[str, str]) -> None:
    """As load_state_dict does it for any user, hooks of the module's included; plain attributes get tensors of their own."""
    load_state(model, {names[name]: value for name, value in state.items() if name in names}, strict=False)


def assign(model: torch.nn.Module, state: State, names: dict[str, str], in_place: bool) -> None:
    """Other values for the entries: in the old tensors' memory, or in tensors of their own, as plain attributes always are
    that have another shape by now."""
    fit_buffers(model, {names[name]: value for name, value in state.items() if name in names})
    entries = entries_of(model, names)
    for name, value in state.items():
        if is_plain(name):
            if name not in names:
                continue
            if is_plain(names[name]):
                held = get(model, name)
                if held is None or not in_place or held.shape != value.shape:
                    put(model, {name: value})
                    continue
        table, key = entries[name]
        # Torch's own ways to the memory: a class of the candidate's may be told when it is asked for `.data`.
        with torch._C.DisableTorchFunction():
            if in_place:
                _COPY(_DATA.__get__(table[key]), value)
            else:
                _DATA.__set__(table[key], value)


def _fits(own: Any, form: Form) -> bool:
    return isinstance(own, torch.Tensor) and list(own.shape) == form["shape"] and str(own.dtype)[6:] == form["dtype"]


def _difference(own: State, state: dict[str, Form]) -> str:
    missing = [name for name in state if name not in own]
    if missing:
        extra = [name for name in own if name not in state]
        return f"ModelNew's state_dict lacks {', '.join(missing[:4])}" + (
            f" and has {', '.join(extra[:4])}" if extra else ""
        )
    name = next(name for name in state if not _fits(own[name], state[name]))
    return f"{name} is {own[name].dtype} {list(own[name].shape)} in ModelNew and torch.{state[name]['dtype']} {state[name]['shape']} in the module"
