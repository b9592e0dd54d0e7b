"""What lasts from call to call in a module's own Python objects: counters, lists that grow, what is None at first.

Such things are state that no state_dict and no tensor attribute holds. They may change as they like while nothing that forward
returns depends on them; else no trace can express them and no judge can set them anew, and the user is told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from mtmc.device.digest import digest
from mtmc.device.random_state import seed_all
from mtmc.task.once_more import Raised, answer_of, inputs_of
from mtmc.task.task import Task
from mtmc.wire.blobs import identical, leaves
from mtmc.wire.plain import TABLES, Attributes, State, get, is_plain, load_state, plain_tensors, transient
from mtmc.wire.task_error import TaskError

OF_TORCH = frozenset(vars(torch.nn.Module()))  # attributes that every module has
PLAIN = (bool, int, float, complex, str, type(None))
MOST_PARTS, MOST_DEPTH = 64, 3  # of a structure that are looked at
MOST_HASHED = 1 << 28  # bytes of a tensor: a tenth of a second
ADDS = "forward adds a parameter or buffer to the state_dict"
ADDED = "one that the constructor registers, or a buffer that is not persistent"
MOST_NAMED = 3  # attributes that a message names

Objects = dict[str, tuple[str, str]]  # by dotted name: what tells a change, and what a message says


def objects_of(model: torch.nn.Module, values: bool = False) -> Objects:
    """All of them as they are now. Tensors that are attributes or buffers by themselves, or in one of its lists, are state: of
    these only how many there are. Of others it counts where they lie or, with `values`, what is in them."""
    found: Objects = {}
    for prefix, module in torch.nn.Module.named_modules(model):
        for name, value in (module.__dict__ | transient(module)).items():
            if name not in OF_TORCH and name not in TABLES:
                found[f"{prefix}.{name}" if prefix else name] = _text(value, 0, values), _said(value)
    return found


def described(value: Any) -> tuple[str, str]:
    """What tells one value of a name from another, be it a module, a tensor, an array or a plain structure; and what a message says."""
    if isinstance(value, torch.nn.Module):
        return _text(dict(value.state_dict()), 0, True), _said(value)
    if hasattr(value, "tobytes") and hasattr(value, "shape"):
        return value.tobytes().hex(), f"an array {list(value.shape)}"
    return _text(value, 2, True), _said(value)


def refuse_lasting(task: Task, model: torch.nn.Module, doing: str) -> None:
    """TaskError where the task's module, as its constructor left it, returns or keeps something else once another call has changed
    its objects, its tensors being what they were. It is left as it was."""
    objects = Attributes(model)
    first: State = {name: value.clone() for name, value in (model.state_dict() | plain_tensors(model)).items()}
    before = objects_of(model)

    def call(draw: int = 0, anew: bool = True) -> list[Any]:
        inputs = inputs_of(task, draw)
        if anew:
            objects.restore()
        load_state(model, first)
        seed_all(0)
        result = answer_of(task, model, inputs)
        plain = {key: value for key, value in plain_tensors(model).items() if key in first}
        return copies([leaves(result), list(model.state_dict().values()), list(plain.values())])

    try:
        result, after = call(), objects_of(model)
        changed = [name for name in before | after if before.get(name) != after.get(name)]
        if not changed or not identical(call(), result):  # no call is like another
            return
        call(draw=1)
        if identical(call(anew=False), result):
            return
    except Raised:
        return
    finally:
        objects.restore()
        load_state(model, first)
    nothing = ("", "nothing")
    got = [f"{n}: {before.get(n, nothing)[1]}, then {after.get(n, nothing)[1]}" for n in changed[:MOST_NAMED]]
    wrong = "what forward returns depends on attributes that it changes and that are not tensors from the first call on"
    wanted = "buffers or tensor attributes for what lasts from call to call"
    raise TaskError(doing, wrong, "; ".join(got), wanted)


def remade(task: Task, model: torch.nn.Module) -> set[str]:
    """The keys of plain tensors that a call of the task's module, as its constructor left it, makes anew in another shape or type,
    such as a table that was too short: no state where all else is the same whether it was there or not, and the next call leaves it
    as it is. The module is left as it was."""
    objects = Attributes(model)
    first: State = {name: value.clone() for name, value in (model.state_dict() | plain_tensors(model)).items()}
    grown: set[str] = set()

    def call(draw: int = 0, anew: bool = True) -> list[Any]:
        inputs = inputs_of(task, draw)
        if anew:
            objects.restore()
        load_state(model, {name: value for name, value in first.items() if anew or name not in grown})
        seed_all(0)
        result = answer_of(task, model, inputs)
        now = model.state_dict() | plain_tensors(model)
        grown.update(
            key for key, value in now.items() if is_plain(key) and key in first and not alike(value, first[key])
        )
        return copies([leaves(result), [value for name, value in now.items() if name in first and name not in grown]])

    try:
        result = call()
        if not grown or not identical(call(), result):
            return set()
        call(draw=1)
        held = {key: copies(get(model, key)) for key in grown}
        same = identical(call(anew=False), result)
        return {key for key, value in held.items() if same and identical(get(model, key), value)}
    except Raised:
        return set()
    finally:
        objects.restore()
        load_state(model, first)


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def copies(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, list):
        return [copies(part) for part in value]
    return value


def _text(value: Any, depth: int, values: bool) -> str:
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, torch.Tensor):
        if depth <= 1:
            return "tensor"
        if value.is_meta or value.is_nested or value.layout is not torch.strided:  # nothing tells what is in it
            return f"tensor {value.dtype} {value.layout}"
        if values and value.nbytes > MOST_HASHED:
            return f"tensor {value.dtype} {tuple(value.shape)}"
        return f"tensor {digest(value) if values else (value.data_ptr(), value._version)}"
    if isinstance(value, torch.nn.Module) or depth > MOST_DEPTH:
        return type(value).__name__
    if isinstance(value, Mapping):  # its tensors are nobody's state
        parts = [
            part for key, one in list(value.items())[:MOST_PARTS] for part in (str(key), _text(one, depth + 2, values))
        ]
    elif isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ == "deque":
        parts = [_text(one, depth + 1, values) for one in list(value)[:MOST_PARTS]]
    else:
        held = getattr(value, "__dict__", {}) if not callable(value) else {}
        return f"{type(value).__name__} {_text(held, depth + 1, values)}" if held else type(value).__name__
    return f"{type(value).__name__} of {len(value)}: {', '.join(parts)}"


def _said(value: Any) -> str:
    if isinstance(value, PLAIN):
        return repr(value)[:40]
    if isinstance(value, torch.Tensor):
        return f"a tensor {list(value.shape)}"
    name = type(value).__name__
    return f"a {name} of {len(value)}" if hasattr(value, "__len__") else f"a {name}"
