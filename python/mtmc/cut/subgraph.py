"""A run of statements of a sample as a module file: what it reads becomes weights and arguments, what is read later its
results."""

from __future__ import annotations

import ast
import keyword
import math
import random
import re
from dataclasses import dataclass
from typing import Any

import torch

from mtmc.cut.sample import Meta, Sample, names_in, run_on_meta

LEAST, MOST = 5, 32  # statements
LEAST_WORK = 3  # of these, that compute
LARGEST = 1 << 27  # elements of any value
WORTHWHILE = 1 << 20  # elements of the largest value, of a task that is worth optimising on a GPU
BATCHES = (64, 32, 16, 8, 4)
IDLE = {
    "view", "reshape", "transpose", "permute", "contiguous", "unsqueeze", "squeeze", "expand", "flatten", "size", "dim", "to",
    "float", "getitem", "split", "chunk", "unbind", "detach", "clone", "t", "expand_as", "type_as", "unflatten", "getattr",
}  # fmt: skip


class NoCut(Exception):
    """These statements make no task; says why."""


@dataclass
class Cut:
    """Statements first to last (from 0) of a sample, as text."""

    sample: str
    first: int
    last: int
    text: str
    small: str  # the same with the sample's own batch, for trying


def works(node: ast.stmt) -> bool:
    """Whether a statement computes something."""
    value = node.value if isinstance(node, ast.Assign | ast.AugAssign) else None
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name not in IDLE
    return isinstance(value, ast.BinOp) or isinstance(node, ast.AugAssign)


class Names:
    """Short names for what a subgraph reads."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken) | {"self", "torch", "x"}

    def short(self, name: str) -> str:
        parts = re.sub(
            r"^L_+|self_|_?modules_|_parameters|_buffers|_$", lambda m: "_" if "modules" in m[0] else "", name
        )
        words = [word for word in re.split(r"_+", parts) if word]
        short = "_".join(words[-3:]).lower() or "value"
        short = re.sub(r"\W", "_", short)
        if short[0].isdigit() or keyword.iskeyword(short):
            short = "v_" + short
        unique, number = short, 2
        while unique in self.taken:
            unique, number = f"{short}_{number}", number + 1
        self.taken.add(unique)
        return unique


class Renamed(ast.NodeTransformer):
    def __init__(self, replaced: dict[str, ast.expr]) -> None:
        self.replaced = replaced

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.replaced.get(node.id, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """device(type="cuda", index=0) is where the arguments lie: the CPU, as in all task files."""
        if isinstance(node.func, ast.Name) and node.func.id == "device":
            return ast.Constant("cpu")
        return self.generic_visit(node)


def draw_of(shape: list[int], dtype: torch.dtype, meta: Meta | None) -> str:
    """How an argument is drawn."""
    if dtype == torch.bool:
        return f"torch.rand({shape}) > 0.3"
    if not dtype.is_floating_point:
        if meta is None or meta.min_val is None or meta.max_val is None:
            raise NoCut("an integer argument whose range nobody knows")
        return f"torch.randint({int(meta.min_val)}, {int(meta.max_val) + 1}, {shape})"
    return f"torch.randn({shape})" + ("" if dtype == torch.float32 else f".to({dtype})")


def weight_of(name: str, meta: Meta) -> str:
    """How a weight is made: with the mean and deviation that the sample recorded."""
    if not meta.dtype.is_floating_point:
        raise NoCut("a weight of integers")
    shape, tail = meta.shape, "" if meta.dtype == torch.float32 else f".to({meta.dtype})"
    if "running_var" in name:
        return f"torch.rand({shape}){tail} + 0.5"
    known = all(value is not None and math.isfinite(value) for value in (meta.mean, meta.std))
    mean, std = (float(meta.mean), float(meta.std)) if known else (0.0, 0.02)
    text = f"torch.randn({shape}) * {max(std, 0.01):.4g}" + (f" + {mean:.4g}" if abs(mean) > 1e-3 else "")
    return f"({text}){tail}" if tail else text


def rebatched(shape: list[int], batch: int) -> list[int]:
    return [batch, *shape[1:]] if shape and shape[0] == 1 else shape


class Rebatched(ast.NodeTransformer):
    """x.view(1, 36, -1) with another batch."""

    def __init__(self, batch: int) -> None:
        self.batch = batch

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        shaping = isinstance(node.func, ast.Attribute) and node.func.attr in ("view", "reshape", "expand")
        if not shaping or not node.args:
            return node
        first = node.args[0]
        if isinstance(first, ast.Constant) and first.value == 1 and len(node.args) > 1:
            node.args[0] = ast.Constant(self.batch)
        elif isinstance(first, ast.Tuple | ast.List) and len(first.elts) > 1:
            if isinstance(first.elts[0], ast.Constant) and first.elts[0].value == 1:
                first.elts[0] = ast.Constant(self.batch)
        return node


def with_batch(statements: list[ast.stmt], batch: int) -> list[ast.stmt]:
    """As they are for the sample's own, 1."""
    copies = ast.parse("\n".join(ast.unparse(node) for node in statements)).body
    return copies if batch == 1 else [ast.fix_missing_locations(Rebatched(batch).visit(node)) for node in copies]


def sizes_with(numbers: dict[str, Any], batch: int) -> dict[str, Any]:
    """A size that is 1 is the batch's."""
    is_size = re.compile(r"s\d+")
    return {name: batch if value == 1 and is_size.fullmatch(name) else value for name, value in numbers.items()}


def cut(sample: Sample, rng: random.Random, large: bool) -> Cut:
    count = min(rng.randint(LEAST, MOST), len(sample.statements))
    first = rng.randrange(max(1, len(sample.statements) - count + 1))
    return cut_at(sample, first, first + count - 1, rng if large else None)


def cut_at(sample: Sample, first: int, last: int, rng: random.Random | None) -> Cut:
    """Statements `first` to `last`. With `rng`, it gets a batch of more than one where that runs."""
    statements = sample.statements[first : last + 1]
    if sum(map(works, statements)) < LEAST_WORK:
        raise NoCut("it computes nothing")
    read, made = reads_and_results(sample, first, last)
    tensors = {name: value for name, value in read.items() if isinstance(value, torch.Tensor)}
    numbers = {name: value for name, value in read.items() if isinstance(value, int | float | bool)}
    if len(tensors) + len(numbers) < len(read):
        raise NoCut("it reads what is no tensor")
    weights = [name for name in tensors if name in sample.weights]
    arguments = [name for name in tensors if name not in sample.weights]
    if not arguments:
        raise NoCut("it has no argument")
    shapes = {name: list(tensors[name].shape) for name in arguments}
    batches = [*(rng.sample(BATCHES, len(BATCHES)) if rng else []), 1]
    largest = {batch: largest_value(statements, tensors, numbers, arguments, batch) for batch in batches}
    good = [batch for batch in batches if 0 < largest[batch] <= LARGEST]
    if 1 not in good:
        raise NoCut("a value is too large")
    if rng and largest[good[0]] < WORTHWHILE:
        raise NoCut("it is too small")

    def text(batch: int) -> str:
        given = {name: rebatched(shape, batch) for name, shape in shapes.items()}
        known = sizes_with(numbers, batch)
        return module_text(sample, with_batch(statements, batch), weights, given, tensors, known, made)

    return Cut(sample.name, first, last, text(good[0]), text(1))


def reads_and_results(sample: Sample, first: int, last: int) -> tuple[dict[str, Any], list[str]]:
    """What the statements read of before, and which of their tensors are read after them (the last one at least)."""
    known: dict[str, Any] = {}
    for name in sample.arguments:
        meta = sample.metas[name]
        size = not meta.shape and meta.data and meta.dtype == torch.int64
        known[name] = int(meta.data[0]) if size else torch.empty(meta.shape, dtype=meta.dtype, device="meta")
    for values in sample.values[:first]:
        known |= values
    read: dict[str, Any] = {}
    defined: dict[str, Any] = {}
    for place in range(first, last + 1):
        node = sample.statements[place]
        for name in sorted(names_in(node, ast.Load)):
            if name not in defined and name in known:
                read.setdefault(name, known[name])
        defined |= sample.values[place]
    after = set().union(*(names_in(node, ast.Load) for node in sample.statements[last + 1 :]), set())
    results = [name for name, value in defined.items() if name in after and isinstance(value, torch.Tensor)]
    if not results:
        results = [name for name, value in sample.values[last].items() if isinstance(value, torch.Tensor)]
    if not results:
        raise NoCut("it has no result")
    return read, results[-4:]


def largest_value(
    statements: list[ast.stmt], tensors: dict[str, Any], numbers: dict[str, Any], arguments: list[str], batch: int
) -> int:
    """Elements of the largest value with such a batch; 0 where it does not run with one."""
    given: dict[str, Any] = tensors | sizes_with(numbers, batch)
    for name in arguments:
        own = list(tensors[name].shape)
        shape = rebatched(own, batch)
        if batch > 1 and shape == own and tensors[name].is_floating_point():
            return 0
        given[name] = torch.empty(shape, dtype=tensors[name].dtype, device="meta")
    values = run_on_meta(with_batch(statements, batch), given)
    if len(values) < len(statements):
        return 0
    made = [one for defined in values for one in defined.values()]
    made += [given[name] for name in arguments]
    return max(one.numel() for one in made if isinstance(one, torch.Tensor))


def module_text(
    sample: Sample, statements: list[ast.stmt], weights: list[str], shapes: dict[str, list[int]],
    tensors: dict[str, torch.Tensor], numbers: dict[str, Any], results: list[str],
) -> str:  # fmt: skip
    defined = set().union(*(names_in(node, ast.Store) for node in statements))
    names = Names(defined)
    members = {name: names.short(name) for name in weights}
    given = {name: name if re.fullmatch(r"[a-z]\w{0,30}", name) else names.short(name) for name in shapes}
    replaced: dict[str, ast.expr] = {name: ast.Constant(value) for name, value in numbers.items()}
    replaced |= {name: ast.Attribute(ast.Name("self"), member) for name, member in members.items()}
    replaced |= {name: ast.Name(argument) for name, argument in given.items()}
    lines = [ast.unparse(Renamed(replaced).visit(ast.parse(ast.unparse(node)))) for node in statements]
    made = []
    for name, member in members.items():
        make = weight_of(name, sample.metas[name])
        buffer = "_buffers_" in name
        made.append(f'self.register_buffer("{member}", {make})' if buffer else f"self.{member} = nn.Parameter({make})")
    draws = [draw_of(shape, tensors[name].dtype, sample.metas.get(name)) for name, shape in shapes.items()]
    text = 'import torch\nimport torch.nn as nn\n\nMODE = "eval"\n\n\nclass Model(nn.Module):\n'
    if made:
        text += (
            "    def __init__(self):\n        super().__init__()\n"
            + "".join(f"        {line}\n" for line in made)
            + "\n"
        )
    text += f"    def forward(self, {', '.join(given.values())}):\n"
    text += "".join(f"        {part}\n" for line in lines for part in line.splitlines())
    text += f"        return {', '.join(results)}\n\n\ndef get_inputs():\n    return [\n"
    text += "".join(f"        {draw},\n" for draw in draws) + "    ]\n\n\ndef get_init_inputs():\n    return []\n"
    return text
