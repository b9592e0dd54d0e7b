"""How a candidate of TritonBench finds the kernel for a call. The text of this file stands at the head of every candidate, whose
function may be called like one of Python's own (max, sum): none of those are used here, and nothing of ours is imported.
"""

from __future__ import annotations

import builtins
import importlib.util
from typing import Any

import torch
from torch.utils import _pytree as pytree


def is_device(value: Any) -> bool:
    return isinstance(value, torch.device) or (isinstance(value, str) and value.split(":")[0] in ("cpu", "cuda"))


def shown(value: Any) -> str:
    """An argument as far as a kernel depends on it: of a tensor its type, of others their value. Devices are all alike."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype).removeprefix("torch.") + str(list(value.shape))
    if is_device(value):
        return "a device"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(shown(item) for item in value)})"
    if value is None or type(value) in (bool, int, float, complex, str, torch.dtype, torch.layout, torch.memory_format):
        return repr(value)
    return f"a {type(value).__name__}"


def shown_call(arguments: dict[str, Any]) -> str:
    """`input=float32[3], alpha=1`: what tells one case of a function from another."""
    return ", ".join(f"{name}={shown(value)}" for name, value in arguments.items())


def tensors_of(arguments: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor)]


def as_real(value: Any) -> Any:
    """Complex tensors as pairs of real ones along a last axis: kernels know no others."""
    if isinstance(value, torch.Tensor) and value.is_complex():
        return torch.view_as_real(value.resolve_conj())
    return value


class Kernels:
    """The kernels of a function by the calls that they are for: {call: [{kernel: a file, changed, returns, complex, decisions}]}.
    `changed` are the tensors, by their place among the arguments, that a call writes to, and `returns` which of them it returns.
    A kernel returns the result, those tensors' new values and the conditions of branches; `complex`: which of the leaves before
    the conditions are complex. `decisions`: what the conditions must be for this kernel to be right. `refused`: {call: the
    error, `TYPE: words`, that the function itself has for it} where no kernel is right."""

    def __init__(self, function: str, cases: dict[str, list[dict[str, Any]]], refused: dict[str, str]) -> None:
        self.function, self.cases, self.refused = function, cases, refused
        self.files: dict[str, Any] = {}
        self.modules: dict[tuple[str, Any], torch.nn.Module] = {}

    def __call__(self, arguments: dict[str, Any]) -> Any:
        """A call that no kernel is for is an error: nothing else computes it."""
        key, tensors = shown_call(arguments), tensors_of(arguments)
        with torch.no_grad():
            for case in self.cases.get(key, []):
                parts = self.parts(case, tensors)
                conditions = parts[len(parts) - len(case["decisions"]) :]
                if [bool(one) for one in conditions] == case["decisions"]:
                    return self.returned(case, tensors, parts[: len(parts) - len(conditions)])
        if key in self.refused:
            kind, _, words = self.refused[key].partition(": ")
            raise getattr(builtins, kind, RuntimeError)(words)
        wrong = "no kernel is for its values" if key in self.cases else "no kernel is for this"
        wanted = "; ".join(f"({case})" for case in self.cases) or "none"
        raise NotImplementedError(f"calling {self.function}: {wrong}: got ({key}), wanted {wanted}")

    def parts(self, case: dict[str, Any], tensors: list[torch.Tensor]) -> list[Any]:
        """What the kernel returns: one thing, or a tuple of so many as the case says. Where all arguments lie on the host, they
        are moved to where the kernel runs, and what it returns is moved back."""
        on_host = {tensor.device.type for tensor in tensors} == {"cpu"}
        device = tensors[0].device if tensors else None
        if on_host:
            device = torch.device(getattr(self.loaded(case["kernel"]), "_DEVICE", "cpu"))
        given = [tensor.to(device) for tensor in tensors] if on_host else tensors
        results = self.module(case["kernel"], device)(*(as_real(tensor) for tensor in given))
        if on_host:
            results = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.cpu(), results)
        leaves, spec = pytree.tree_flatten(results)
        for place in case["complex"]:
            leaves[place] = torch.view_as_complex(leaves[place].contiguous())
        results = pytree.tree_unflatten(leaves, spec)
        count = (case["returns"] is None) + len(case["changed"]) + len(case["decisions"])
        return [results] if count == 1 else list(results)

    def returned(self, case: dict[str, Any], tensors: list[torch.Tensor], parts: list[Any]) -> Any:
        changed = case["changed"]
        for place, value in zip(changed, parts[len(parts) - len(changed) :], strict=True):
            tensors[place].resize_(value.shape).copy_(value)
        return parts[0] if case["returns"] is None else tensors[case["returns"]]

    def module(self, file: str, device: torch.device | None) -> torch.nn.Module:
        if (file, device) not in self.modules:
            self.modules[file, device] = self.loaded(file).ModelNew().to(device)
        return self.modules[file, device]

    def loaded(self, file: str) -> Any:
        if file not in self.files:
            spec = importlib.util.spec_from_file_location(f"kernel_{len(self.files)}", file)
            self.files[file] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.files[file])
        return self.files[file]
