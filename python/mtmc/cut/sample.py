"""A sample of GraphNet: the statements of its graph, and the shapes of all values along them.

model.py has one `GraphModule.forward` over weights, inputs and sizes, a statement an operator. It is read, and run
statement by statement on tensors without data, as far as that goes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from mtmc.scan.scan import WithoutData
from mtmc.wire.source import read_source

MODES = {"set_grad_enabled", "_set_grad_enabled", "_enter_autocast", "_exit_autocast", "_enter_inference_mode"}


@dataclass
class Meta:
    """What the sample says of an argument of forward."""

    shape: list[int]
    dtype: torch.dtype
    data: list[Any] | None = None
    mean: float | None = None
    std: float | None = None
    min_val: float | None = None
    max_val: float | None = None


@dataclass
class Sample:
    name: str
    metas: dict[str, Meta]
    arguments: list[str]  # of forward, in order
    weights: set[str]  # those that are parameters or buffers
    statements: list[ast.stmt] = field(default_factory=list)  # as far as they could be run
    values: list[dict[str, Any]] = field(default_factory=list)  # what each of them defines, on the device meta


def metas_of(path: Path) -> dict[str, Meta]:
    found = {}
    for node in ast.parse(read_source(path)).body if path.is_file() else []:
        if not isinstance(node, ast.ClassDef):
            continue
        fields: dict[str, Any] = {}
        for line in node.body:
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                try:
                    fields[line.targets[0].id] = ast.literal_eval(line.value)
                except ValueError:  # float("nan")
                    fields[line.targets[0].id] = None
        dtype = getattr(torch, str(fields.get("dtype", "")).removeprefix("torch."), None)
        if "name" in fields and isinstance(dtype, torch.dtype):
            known = {key: fields.get(key) for key in ("data", "mean", "std", "min_val", "max_val")}
            found[fields["name"]] = Meta(fields.get("shape") or [], dtype, **known)
    return found


def forward_of(tree: ast.Module) -> ast.FunctionDef | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            return node
    return None


def frees(node: ast.stmt) -> bool:
    """`x = None`, or a chain of it: memory is given back."""
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None


def sets_a_mode(node: ast.stmt) -> bool:
    """Gradients and autocast on or off: for all that follows, which a part of it must not depend on."""
    return any(isinstance(one, ast.Attribute) and one.attr in MODES for one in ast.walk(node))


def before_transforms(statements: list[ast.stmt]) -> list[ast.stmt]:
    """What stands before the first of torch.func's: those open levels that the whole process is in until they are closed."""
    for place, node in enumerate(statements):
        if "_functorch" in ast.unparse(node):
            return statements[:place]
    return statements


def without_aliases(statements: list[ast.stmt]) -> list[ast.stmt]:
    """`l_x_ = L_x_` is another name for the same value: what follows says the first one."""
    first: dict[str, str] = {}

    class Named(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.copy_location(ast.Name(first.get(node.id, node.id), node.ctx), node)

    kept = []
    for node in statements:
        node = Named().visit(node)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and isinstance(node.targets[0], ast.Name):
            first[node.targets[0].id] = node.value.id
        else:
            kept.append(node)
    return kept


def argument(meta: Meta) -> Any:
    if not meta.shape and meta.data and meta.dtype == torch.int64:
        return int(meta.data[0])  # a size
    return torch.empty(meta.shape, dtype=meta.dtype, device="meta")


def names_in(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, context)}


def outside() -> dict[str, Any]:
    """What the code of a sample may name."""
    return {"torch": torch, "device": lambda *_, **__: torch.device("meta"), "inf": float("inf"), "nan": float("nan")}


def run_on_meta(statements: list[ast.stmt], values: dict[str, Any]) -> list[dict[str, Any]]:
    """What each statement defines; ends with the first that does not run without data."""
    world = outside() | values
    defined: list[dict[str, Any]] = []
    with WithoutData(), torch.device("meta"), torch.no_grad():
        for node in statements:
            try:
                exec(compile(ast.Module([node], []), "model.py", "exec"), world)
            except Exception:
                break
            defined.append({name: world[name] for name in names_in(node, ast.Store)})
    return defined


def read_sample(folder: Path, root: Path) -> Sample | None:
    """None where the folder's graph cannot be read."""
    try:
        forward = forward_of(ast.parse(read_source(folder / "model.py")))
        metas = metas_of(folder / "weight_meta.py") | metas_of(folder / "input_meta.py")
    except (SyntaxError, OSError):
        return None
    if forward is None:
        return None
    arguments = [one.arg for one in forward.args.args if one.arg != "self"]
    if any(name not in metas for name in arguments):
        return None
    kinds = {one.arg: ast.unparse(one.annotation) if one.annotation else "" for one in forward.args.args}
    weights = {
        name
        for name in arguments
        if "Parameter" in kinds[name] or "_parameters_" in name or ("_buffers_" in name and "position" not in name)
    }
    sample = Sample(str(folder.relative_to(root)), metas, arguments, weights)
    body = [node for node in forward.body if not frees(node) and not isinstance(node, ast.Return)]
    statements = without_aliases([node for node in before_transforms(body) if not sets_a_mode(node)])
    sample.values = run_on_meta(statements, {name: argument(metas[name]) for name in arguments})
    sample.statements = statements[: len(sample.values)]
    return sample
