"""The nodes of a traced graph as JSON: arguments by schema name, types, the user's lines, and torch calls as text."""

from __future__ import annotations

import contextlib
import linecache
import math
import operator
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import fx

from mtmc.task.input_spec import DTYPES
from mtmc.wire.task_error import TaskError

PROGRAM_NAMES = {dtype: name for name, dtype in DTYPES.items()} | {torch.bool: "b1"}
FRAME = re.compile(r'File "([^"]+)", line (\d+), in')
ASSERTIONS = ("_assert", "sym_constrain_range", "_check")  # they only guard symbolic sizes
TORCH_FOLDER = str(Path(torch.__file__).parent)
PLACE = re.compile(r"\{(\d+|@\w+)\}")
MOST_INSIDE = 3  # calls that one line may hold inside of another


@dataclass
class UserCode:
    """Which frames are the user's: those of the task's own file, else the innermost that is not torch's."""

    file: str

    def location(self, stack_trace: str | None) -> tuple[str, str]:
        """(`file.py:12`, the text of that line) of a node's innermost user frame; empty when there is none."""
        frames = [(name, int(line)) for name, line in FRAME.findall(stack_trace or "")]
        own = [frame for frame in frames if frame[0] == self.file]
        others = [frame for frame in frames if not frame[0].startswith((TORCH_FOLDER, "<"))]
        chosen = (own or others)[-1:]
        if not chosen:
            return "", ""
        name, line = chosen[0]
        return f"{Path(name).name}:{line}", linecache.getline(name, line).strip()

    @contextlib.contextmanager
    def recorded(self) -> Iterator[None]:
        """Nodes made inside remember every frame of the user's file; torch alone keeps only those named `forward`."""
        tracer = torch.fx.proxy.TracerBase
        original = getattr(tracer, "_filter_traceback_frames", None)
        if original is None:  # older torch: the frames it keeps have to do
            yield
            return

        def keep(_: Any, frames: traceback.StackSummary) -> traceback.StackSummary:
            written = [frame for frame in frames if not frame.filename.startswith("<")]  # not torch's generated code
            chosen = [frame for frame in written if frame.name == "forward" or frame.filename == self.file]
            return traceback.StackSummary.from_list(chosen)

        tracer._filter_traceback_frames = keep  # type: ignore[method-assign]
        try:
            yield
        finally:
            tracer._filter_traceback_frames = original  # type: ignore[method-assign]


def has_size(value: torch.Tensor) -> bool:
    """Is its size known before it is computed?"""
    return all(isinstance(size, int) for size in value.shape)


def type_text(value: Any) -> str | None:
    """`f32[64,512]`, or None for what a Program cannot hold: other dtypes, sizes that depend on data, symbols."""
    if not isinstance(value, torch.Tensor) or value.dtype not in PROGRAM_NAMES or value.layout != torch.strided:
        return None
    if not has_size(value):
        return None
    return f"{PROGRAM_NAMES[value.dtype]}[{','.join(map(str, value.shape))}]"


@dataclass
class Call:
    """A torch call: the overload, and its arguments as text with `{0}`, `{1}` for values a Program can hold, and `{@name}` for
    results of nodes that it cannot hold. Without an overload the text is the call."""

    op: str
    text: str
    operands: list[str] = field(default_factory=list)
    random: bool = False

    def __str__(self) -> str:
        return self.said(self.text)

    def said(self, text: str) -> str:
        """The call with its arguments, or itself, as this text says them."""
        return f"torch.ops.{self.op}({text})" if self.op else text

    def inner(self) -> list[str]:
        """The nodes in its text that a Program cannot hold, as often as they stand there."""
        return [name[1:] for name in PLACE.findall(self.text) if name.startswith("@")]


class GraphWriter:
    """Turns call_function nodes into JSON, in order.

    A node whose result a Program cannot hold (a complex tensor, a size that depends on data) is never written: its call
    is placed inside the calls of its users, which then stay library calls, or, of many or where one has several users, in
    lines before them. Of a complex tensor with several users, or that forward begins with or returns, a Program holds the
    real view: real and imaginary parts along a last axis."""

    def __init__(self, user: UserCode, device_source: str | None) -> None:
        self.user = user
        self.device_source = device_source  # an input whose device stands for the traced device
        self.nodes: list[dict[str, Any]] = []
        self.names: dict[fx.Node, str] = {}  # values a Program can hold
        self.opaque: dict[str, Call] = {}  # by the node's name: the others
        self.drawn: set[str] = set()  # those of them that are random and written by now
        self.undrawn: list[str] = []  # those that are random and not written yet

    def add_leaf(self, node: fx.Node) -> None:
        if real_view(node.meta["val"]) is None:
            self.names[node] = node.name
        else:
            self.opaque[node.name] = as_complex(node.name)

    def add(self, node: fx.Node) -> None:
        if node.target is operator.getitem and node.args[0].name in self.opaque:
            source, index = node.args
            return self._finish(node, Call("aten.alias.default", f"{{@{source.name}}}[{index}]"), None)
        if node.target is operator.getitem:
            self.names[node] = f"{node.args[0].name}.{node.args[1]}"
            return
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            at, source = self.user.location(node.meta.get("stack_trace"))
            raise TaskError(f"tracing {at}", f"control flow that is decided at run time ({node.target.name()})", source)
        if not node.users and any(str(node.target).startswith(f"aten.{word}") for word in ASSERTIONS):
            return
        if isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
            at, source = self.user.location(node.meta.get("stack_trace"))
            raise TaskError(f"tracing {at}", f"{node.target} modifies a tensor in place", source, "a pure operator")
        writer = CallWriter(self)
        call, args = writer.write(node)
        self._finish(node, call, None if writer.held_opaque else args)

    def _finish(self, node: fx.Node, call: Call, args: dict[str, Any] | None) -> None:
        value = node.meta.get("val")
        several = isinstance(value, (tuple, list))
        values = list(value) if several else [value]
        used = {user.args[1] for user in node.users if user.target is operator.getitem} if several else {0}
        types = [type_text(one) for one in values]
        real = None if several else real_view(value)
        if real is not None and (uses(node) > 1 or any(user.op == "output" for user in node.users)):
            self.opaque[node.name] = as_complex(node.name)
            call = Call("aten.view_as_real.default", f"torch.ops.aten.resolve_conj.default({call})", call.operands)
            values, types, args = [real], [type_text(real)], None
        elif not all(types[index] for index in used):
            self.opaque[node.name] = call
            if call.random and node.users:
                self.undrawn.append(node.name)
            return
        elif not several:
            self.names[node] = node.name
        at, source = self.user.location(node.meta.get("stack_trace"))
        needed = self._needed(call)
        self._draw(call, needed, at, source)
        call, before = whole(call, needed)
        self.nodes.append(
            {
                "op": call.op,
                "name": node.name,
                "args": args,
                "call": call.text,
                "before": before,
                "operands": call.operands,
                "several": several,
                "outputs": [
                    {
                        "name": f"{node.name}.{i}" if several else node.name,
                        "type": types[i],
                        "used": i in used,
                        **strides(one),
                    }
                    for i, one in enumerate(values)
                ],
                "at": at,
                "source": source,
            }
        )

    def _draw(self, call: Call, needed: dict[str, Call], at: str, source: str) -> None:
        """Random numbers for what a Program cannot hold are drawn where it is needed: once, and in the order of the user's code."""
        doing, size = f"tracing {at}", "for a tensor whose size data decide"
        if again := [one.op for name, one in needed.items() if name in self.drawn]:
            wanted = "one result of it, or a size that is known (torch.where, masks)"
            raise TaskError(doing, f"random numbers ({again[0]}) {size}, which several results need", source, wanted)
        mine = [name for name in self.undrawn if name in needed]
        before = self.undrawn if call.random else self.undrawn[: self.undrawn.index(mine[-1]) + 1] if mine else []
        if early := [self.opaque[name].op for name in before if name not in needed]:
            wanted = "results in the order of their random numbers, or a size that is known (torch.where, masks)"
            raise TaskError(doing, f"random numbers ({early[0]}) {size}, needed later than others", source, wanted)
        self.undrawn = [name for name in self.undrawn if name not in needed]
        self.drawn |= set(mine)

    def _needed(self, call: Call) -> dict[str, Call]:
        """What the call reads and no Program can hold, with all that this reads, in the order of the graph."""
        found, waiting = set[str](), call.inner()
        while waiting:
            if (name := waiting.pop()) not in found:
                found.add(name)
                waiting += self.opaque[name].inner()
        return {name: one for name, one in self.opaque.items() if name in found}


def whole(call: Call, needed: dict[str, Call]) -> tuple[Call, list[str]]:
    """The call with all that it needs inside of it, or in lines before it: then the last one says which of their variables are to be
    deleted behind it."""
    reads = Counter(name for one in [call, *needed.values()] for name in one.inner())
    operands: list[str] = []
    variables: dict[str, str] = {}

    def filled(one: Call) -> str:
        def put(place: re.Match[str]) -> str:
            if not place[1].startswith("@"):
                name = one.operands[int(place[1])]
                if name not in operands:
                    operands.append(name)
                return f"{{{operands.index(name)}}}"
            name = place[1][1:]
            return variables[name] if variables else needed[name].said(filled(needed[name]))

        return PLACE.sub(put, one.text)

    if len(needed) <= MOST_INSIDE and all(count == 1 for count in reads.values()):
        return Call(call.op, filled(call), operands), []
    variables = {name: f"_s{i}" for i, name in enumerate(needed)}
    last = {name: reader for reader, one in enumerate([*needed.values(), call]) for name in one.inner()}

    def gone(reader: int) -> str:
        return "del " + ", ".join(variables[name] for name in needed if last[name] == reader)

    lines = []
    for reader, (name, one) in enumerate(needed.items()):
        line = f"{variables[name]} = {one.said(filled(one))}"
        lines.append(f"{line}; {gone(reader)}" if reader in last.values() else line)
    return Call(call.op, filled(call), operands), [*lines, gone(len(needed))]


def real_view(value: Any) -> torch.Tensor | None:
    """A complex tensor of fixed shape as a real one with the two parts along a last axis; None of all else."""
    if not isinstance(value, torch.Tensor) or value.dtype not in (torch.complex64, torch.complex128):
        return None
    real = torch.view_as_real(value.resolve_conj())
    return real if type_text(real) else None


def uses(node: fx.Node) -> int:
    """How often a node's result is an argument: of x * x twice."""
    found: list[fx.Node] = []
    for user in node.users:
        fx.node.map_arg((user.args, user.kwargs), found.append)
    return found.count(node)


def as_complex(name: str) -> Call:
    return Call("aten.view_as_complex.default", "{0}", [name])


def strides(value: Any) -> dict[str, list[int]]:
    return {} if type_text(value) is None or value.is_contiguous() else {"strides": list(value.stride())}


def same(value: Any, default: Any) -> bool:
    """Whether an argument says no more than its default: 1 is not True, [1, 1] is."""
    if isinstance(value, (list, tuple)) and isinstance(default, (list, tuple)):
        return len(value) == len(default) and all(map(same, value, default))
    return type(value) is type(default) and not isinstance(value, fx.Node) and value == default


class CallWriter:
    """One node: its arguments as JSON by schema name (those that differ from the default), and as Python text."""

    def __init__(self, graph: GraphWriter) -> None:
        self.graph = graph
        self.operands: list[str] = []
        self.held_opaque = False

    def write(self, node: fx.Node) -> tuple[Call, dict[str, Any] | None]:
        if not isinstance(node.target, torch._ops.OpOverload):  # arithmetic on sizes that depend on data
            self.held_opaque = True
            text = ", ".join(self.text(arg) for arg in node.args)
            return Call("", f"__import__('operator').{node.target.__name__}({text})", self.operands), None
        args: dict[str, Any] = {}
        texts: list[str] = []
        for index, argument in enumerate(node.target._schema.arguments):
            if index < len(node.args):
                value = node.args[index]
                texts.append(self.text(value))
            elif argument.name in node.kwargs:
                value = node.kwargs[argument.name]
                texts.append(f"{argument.name}={self.text(value)}")
            else:
                continue
            if not (argument.has_default_value() and same(value, argument.default_value)):
                args[argument.name] = self.json(value)
        random = torch.Tag.nondeterministic_seeded in node.target.tags
        return Call(str(node.target), ", ".join(texts), self.operands, random), args

    def text(self, value: Any) -> str:
        if isinstance(value, fx.Node):
            return self.node_text(value)
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.text(item) for item in value) + "]"
        if isinstance(value, float) and not math.isfinite(value):
            return f"float('{value}')"
        if isinstance(value, torch.device):
            if self.graph.device_source is None:
                return f"torch.device('{value.type}')"
            return f"{{{self.operand(self.graph.device_source)}}}.device"
        said = repr(value)  # numbers, strings, None, torch.float32, torch.contiguous_format
        return said.replace("{", "\\x7b") if isinstance(value, str) else said

    def operand(self, name: str) -> int:
        if name not in self.operands:
            self.operands.append(name)
        return self.operands.index(name)

    def node_text(self, node: fx.Node) -> str:
        if node in self.graph.names:
            return f"{{{self.operand(self.graph.names[node])}}}"
        self.held_opaque = True
        return f"{{@{node.name}}}"

    def json(self, value: Any) -> Any:
        if isinstance(value, fx.Node):
            return {"v": self.graph.names[value]} if value in self.graph.names else {"opaque": value.name}
        if isinstance(value, (list, tuple)):
            return [self.json(item) for item in value]
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, torch.dtype):
            return {"dtype": PROGRAM_NAMES.get(value, str(value))}
        return {"torch": str(value)}  # device, layout, memory format, complex: nothing a Program speaks of
