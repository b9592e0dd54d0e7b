"""Runs NAME.kernel.py's ModelNew beside NAME.py's Model, for every NAME in a folder; exits 1 if not all agree.

Two calls on one draw, same weights; outputs and state to 1e-5 of the largest element, and no output of ModelNew shares
memory with an input unless eager's does.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mtmc.task.task import load_task, seed_everything


def close(a: Any, b: Any) -> bool:
    if not isinstance(b, torch.Tensor):
        return a == b
    if not b.is_floating_point() or b.numel() == 0:
        return torch.equal(a, b)
    limit = 1e-5 if b.dtype in (torch.float32, torch.float64) else 1e-2
    scale = float(b[torch.isfinite(b)].abs().max()) if torch.isfinite(b).any() else 0.0
    return a.dtype == b.dtype and torch.allclose(a, b, rtol=limit, atol=limit * scale, equal_nan=True)


def shared(outputs: list[Any], inputs: list[Any]) -> list[bool]:
    storages = {x.untyped_storage().data_ptr() for x in inputs if isinstance(x, torch.Tensor)}
    return [isinstance(y, torch.Tensor) and y.untyped_storage().data_ptr() in storages for y in outputs]


@torch.no_grad()  # as the judge calls it: an encoder in eval mode returns zeros for padding then, and only then
def compare(path: Path) -> str:
    """What is wrong, or an empty text."""
    attr = "score" if "def score(" in path.read_text() else "Model"
    task = load_task({"name": path.stem, "file": str(path), "attr": attr})
    spec = importlib.util.spec_from_file_location("kernel", path.with_suffix(".kernel.py"))
    kernel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernel)
    eager, ours = task.make_model(0), task.make_model(0, constructor=kernel.ModelNew)
    ours.load_state_dict(eager.state_dict())
    inputs = task.make_inputs(1)
    for call in (1, 2):
        seed_everything(call)
        theirs, structure = pytree.tree_flatten(eager(*inputs))
        seed_everything(call)
        own, own_structure = pytree.tree_flatten(ours(*inputs))
        if structure != own_structure:
            return f"structure {own_structure} instead of {structure}"
        wrong = [i for i, (a, b) in enumerate(zip(own, theirs, strict=True)) if not close(a, b)]
        if wrong:
            return f"outputs {wrong} differ in call {call}: {own} instead of {theirs}"
        leaves = pytree.tree_leaves(inputs)
        if any(a and not b for a, b in zip(shared(own, leaves), shared(theirs, leaves), strict=True)):
            return "an output shares memory with an input"
        state = ours.state_dict()
        wrong = [name for name, value in eager.state_dict().items() if not close(state[name], value)]
        if wrong:
            return f"state {wrong} differs in call {call}"
    return ""


def main(folder: Path) -> int:
    warnings.simplefilter("ignore")
    paths = [path for path in sorted(folder.glob("*.py")) if not path.name.endswith(".kernel.py")]
    agree = 0
    for path in paths:
        try:
            wrong = compare(path)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        agree += not wrong
        if wrong:
            print(f"{path.stem}: {wrong[:2000]}")
    print(f"{agree} agree")
    return 0 if agree == len(paths) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
