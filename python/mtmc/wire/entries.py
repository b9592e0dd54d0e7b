"""What state_dict holds, found in a module's own tables, and other values put there together.

torch's own state_dict and load_state_dict go through hundreds of submodules and call a kernel for each entry: for a network of
a hundred layers ten milliseconds, once or twice for each call that is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

State = dict[str, torch.Tensor]
Entries = dict[str, tuple[Mapping[str, Any], str]]  # name -> where a tensor hangs: a table and its key there

# By which a module has a say in what is saved or loaded.
METHODS = (
    *("state_dict", "_save_to_state_dict", "get_extra_state"),
    *("load_state_dict", "_load_from_state_dict", "set_extra_state"),
)
HOOKS = (
    *("_state_dict_hooks", "_state_dict_pre_hooks"),
    *("_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"),
)
PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter)
# Those that one kernel copies on a GPU.
COPIED = {
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128),
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
}


def own_entries(model: torch.nn.Module) -> Entries:
    """What state_dict() holds, found in the module's own tables: a candidate's state_dict could answer anything."""
    found: Entries = {}
    for prefix, module in torch.nn.Module.named_modules(model, remove_duplicate=False):
        transient = module.__dict__.get("_non_persistent_buffers_set", ())
        for table in ("_parameters", "_buffers"):
            for name, value in module.__dict__.get(table, {}).items():
                if value is not None and name not in transient:
                    found[f"{prefix}.{name}" if prefix else name] = (module.__dict__[table], name)
    return found


def registered(model: torch.nn.Module) -> State:
    """model.state_dict(), without asking torch where nobody else has a say in it."""
    if not _usual(model):
        return {name: value for name, value in model.state_dict().items() if not _extra(name, value)}
    return {name: table[key].detach() for name, (table, key) in own_entries(model).items()}


def load(model: torch.nn.Module, state: State, strict: bool = True) -> None:
    """model.load_state_dict(state, strict), an operation for all entries of a type where that comes to the same."""
    if _usual(model):
        own = {name: table[key] for name, (table, key) in own_entries(model).items()}
        names = [name for name in own if name in state]
        held, values = [own[name] for name in names], [state[name] for name in names]
        complete = not strict or len(names) == len(own) == len(state)
        if complete and all(map(_alike, held, values)) and _apart(held):
            _copy_all(held, values)
            return
    theirs = {} if _usual(model) else {n: v for n, v in model.state_dict().items() if _extra(n, v)}
    model.load_state_dict(state | theirs, strict=strict)


def _extra(name: str, value: Any) -> bool:
    """What a module puts into its state_dict beside parameters and buffers (get_extra_state) is no tensor that anybody could set."""
    return name.rpartition(".")[2] == "_extra_state" or not isinstance(value, torch.Tensor)


def _copy_all(held: list[torch.Tensor], values: list[torch.Tensor]) -> None:
    kinds: dict[Any, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}  # one kernel each on a GPU
    for one, value in zip(held, values, strict=True):
        those, theirs = kinds.setdefault((one.dtype, value.dtype, one.device, value.device), ([], []))
        those.append(one)
        theirs.append(value)
    with torch.no_grad():
        for those, theirs in kinds.values():
            torch._foreach_copy_(those, theirs)


def _alike(held: torch.Tensor, value: torch.Tensor) -> bool:
    return held.shape == value.shape and all(map(_plain, (held, value)))


def _plain(tensor: torch.Tensor) -> bool:
    """Strided memory of usual numbers, as they lie there."""
    lies = type(tensor) in PLAIN_TYPES and tensor.layout == torch.strided and not tensor.is_meta
    return lies and tensor.dtype in COPIED and not tensor.is_conj() and not tensor.is_neg()


def _apart(tensors: list[torch.Tensor]) -> bool:
    """Has each memory of its own? Of names of one tensor the last value stays, and one operation has no last."""
    return len({tensor.untyped_storage()._cdata for tensor in tensors}) == len(tensors) > 0


def _usual(model: torch.nn.Module) -> bool:
    """Does no module of it say itself what is saved and loaded?"""
    modules = list(torch.nn.Module.modules(model))
    return all(map(_usual_class, set(map(type, modules)))) and not any(
        any(module.__dict__[hooks] for hooks in HOOKS) or not module.__dict__.keys().isdisjoint(METHODS)
        for module in modules
    )


def _usual_class(cls: type) -> bool:
    """Torch's own layers say it, too, but only of older files (`_load_from_state_dict` of batch norms)."""
    owners = [next(base for base in cls.__mro__ if name in vars(base)) for name in METHODS]
    return all(owner.__module__.startswith("torch.nn.modules.") for owner in owners)
