"""The operator graph of a task, as a hash that is the same however the module is written.

The module runs once on tensors without data (torch's device meta), and what reaches the dispatcher is recorded: ATen
operators and which result goes where. Sizes, numbers, names and weights are not part of it, nor what only renames or copies
memory; `addmm` is a product and a sum, and sums and products do not know an order. Two results have the same hash when the
same operators were applied to the same arguments and weights.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from mtmc.wire.task_error import first_line

PLAIN = {
    "view", "_unsafe_view", "reshape", "t", "transpose", "permute", "expand", "unsqueeze", "squeeze", "detach", "alias",
    "clone", "contiguous", "_to_copy", "lift_fresh", "lift", "copy", "unbind", "split", "split_with_sizes", "chunk",
    "view_as", "expand_as", "flatten", "unflatten", "empty_like", "movedim", "swapaxes",
}  # fmt: skip
ORDERLESS = {"add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or"}
SAME = {
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "dot": "matmul", "_softmax": "softmax", "_log_softmax": "log_softmax",
    "native_batch_norm": "batch_norm", "_native_batch_norm_legit": "batch_norm", "cudnn_batch_norm": "batch_norm",
    "native_layer_norm": "layer_norm", "native_group_norm": "group_norm", "_fused_rms_norm": "rms_norm",
    "max_pool2d_with_indices": "max_pool2d", "max_pool3d_with_indices": "max_pool3d", "rsub": "sub",
    "sum": "sum", "_conv_depthwise2d": "convolution", "mkldnn_convolution": "convolution",
}  # fmt: skip


class NotRun(Exception):
    """The module does not run on tensors without data; says why."""


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Recorder(TorchDispatchMode):
    """Knows the hash of every tensor that an operator made. `roots`: those that were given, by their object."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[int, str] = {}
        self.alive: list[torch.Tensor] = []
        self.calls = 0

    def name(self, tensor: torch.Tensor) -> str:
        return self.known.get(id(tensor), "constant")

    def keep(self, tensor: torch.Tensor, name: str) -> None:
        self.known[id(tensor)] = name
        self.alive.append(tensor)  # or another may get its id

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.split("::")[1]
        in_place = name.endswith("_") and not name.endswith("__")
        given = [self.name(one) for one in tree_leaves([args, kwargs]) if isinstance(one, torch.Tensor)]
        made = self.combined(name.rstrip("_") if in_place else name, given)
        for place, one in enumerate(tree_leaves(result)):
            if isinstance(one, torch.Tensor):
                self.keep(one, made if place == 0 else digest(made, str(place)))
        if in_place and isinstance(args[0], torch.Tensor):
            self.keep(args[0], made)
        return result

    def combined(self, name: str, given: list[str]) -> str:
        if name in PLAIN and given:
            return given[0]
        self.calls += 1
        if name == "addmm":
            return self.combined("add", [given[0], self.combined("matmul", given[1:])])
        if name == "baddbmm":
            return self.combined("add", [given[0], self.combined("matmul", given[1:])])
        name = SAME.get(name, name)
        name = {"div": "mul", "sub": "add"}.get(name, name) if len(given) == 1 else name  # by or with a number
        if name == "convolution" and len(given) == 3:
            return self.combined("add", [given[2], self.combined("convolution", given[:2])])
        return digest(name, *(sorted(given) if name in ORDERLESS else given))


def operator_hash(build: Callable[[], torch.nn.Module], draw: Callable[[], list[Any]]) -> str:
    """Of what `build` makes, called with what `draw` gives. NotRun where that cannot be without data."""
    try:
        with torch.device("meta"), torch.no_grad():
            model = build()
            inputs = draw()
            recorder = Recorder()
            for one in tree_leaves(inputs):
                if isinstance(one, torch.Tensor):
                    recorder.keep(one, f"argument {one.dim()}")
            for one in [*model.parameters(), *model.buffers()]:
                recorder.keep(one, f"weight {one.dim()}")
            with recorder:
                outputs = model(*inputs)
    except Exception as error:
        raise NotRun(first_line(error)) from error
    names = [recorder.name(one) for one in tree_leaves(outputs) if isinstance(one, torch.Tensor)]
    return digest("graph", *names)


def called_graphs(namespace: dict[str, Any], run: Callable[[], Any]) -> list[str]:
    """Of every call that `run` makes of a function in the namespace, seen from outside: calls among them belong to it."""
    found: list[str] = []
    depth = 0

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            if depth > 0:
                return function(*args, **kwargs)
            recorder = Recorder()
            for one in tree_leaves([args, kwargs]):
                if isinstance(one, torch.Tensor):
                    recorder.keep(one, f"argument {one.dim()}")
            depth += 1
            try:
                with recorder:
                    outputs = function(*args, **kwargs)
            finally:
                depth -= 1
            names = [recorder.name(one) for one in tree_leaves(outputs) if isinstance(one, torch.Tensor)]
            found.append(digest("graph", *names))
            return outputs

        return call

    for name, value in list(namespace.items()):
        if getattr(value, "__code__", None) is not None and value.__module__ == namespace["__name__"]:
            namespace[name] = watched(value)
    why = ""
    try:
        with torch.device("meta"), torch.no_grad():
            run()
    except Exception as error:
        why = first_line(error)
    if not found:
        raise NotRun(why or "its tests call nothing")
    return sorted(set(found))
