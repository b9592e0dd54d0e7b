"""Importing a kernel file and giving its ModelNew the task's weights."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import torch

from mtmc.arguments import load_arguments
from mtmc.device import seed_all
from mtmc.failures import classify
from mtmc.task import made_on

State = dict[str, torch.Tensor]


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


def construct(cls: type[torch.nn.Module], folder: Path, file: Path, seed: int, where: torch.device) -> torch.nn.Module:
    """ModelNew with the task's constructor arguments, under a seed that is not the reference's, on a device."""
    saved, hidden = (folder / "init.pickle").read_bytes(), (folder / "hidden").read_text()

    def make() -> torch.nn.Module:
        seed_all(seed)
        args, kwargs = load_arguments(saved, hidden, sys.modules["candidate"])
        return cls(*args, **kwargs)

    try:
        model = made_on(where, make)
        return model if where.type == "cpu" else torch.nn.Module.to(model, where)
    except (Exception, SystemExit) as error:
        raise Refused(*classify(error, "import-error", file)) from error


def state_of(model: torch.nn.Module) -> State:
    """What state_dict() holds, read from the module's own tables: a candidate's state_dict could answer anything. Entries
    that only its hooks know come from there."""
    found: State = {}
    for prefix, module in torch.nn.Module.named_modules(model):
        transient = module.__dict__["_non_persistent_buffers_set"]
        for table in ("_parameters", "_buffers"):
            for name, value in module.__dict__[table].items():
                if value is not None and name not in transient:
                    found[f"{prefix}.{name}" if prefix else name] = value.detach()
    return found


def give_weights(model: torch.nn.Module, state: State) -> tuple[str, dict[str, str]]:
    """Loads the reference's state by name, else by constructor order. Returns how, and reference name -> own name."""
    if not state:
        return "none", {}
    own = state_of(model)
    if not all(name in own for name in state):
        own = {name: value for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}
    if all(name in own and _fits(own[name], value) for name, value in state.items()):
        names = {name: name for name in state}
    elif len(own) == len(state) and all(map(_fits, own.values(), state.values())):
        names = dict(zip(state, own, strict=True))
    else:
        raise Refused("weights-mismatch", _difference(own, state))
    load_weights(model, state, names)
    return "by-name" if all(a == b for a, b in names.items()) else "by-order", names


def load_weights(model: torch.nn.Module, state: State, names: dict[str, str]) -> None:
    """load_state_dict, as any user would call it, hooks of the module's included."""
    model.load_state_dict({names[name]: value for name, value in state.items()}, strict=False)


def _fits(own: Any, value: torch.Tensor) -> bool:
    return isinstance(own, torch.Tensor) and own.shape == value.shape and own.dtype == value.dtype


def _difference(own: State, state: State) -> str:
    missing = [name for name in state if name not in own]
    if missing:
        extra = [name for name in own if name not in state]
        return f"ModelNew's state_dict lacks {', '.join(missing[:4])}" + (
            f" and has {', '.join(extra[:4])}" if extra else ""
        )
    name = next(name for name in state if not _fits(own[name], state[name]))
    return f"{name} is {own[name].dtype} {list(own[name].shape)} in ModelNew and {state[name].dtype} {list(state[name].shape)} in the module"
