"""A task of TritonBench at its performance sizes: instead of its tests, a short script made from the benchmark's file that measures it
(`performance_metrics/perf_T/golden_metrics/NAME_perf.py`), which calls the function once for each of some sizes."""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._python_dispatch import TorchDispatchMode

from mtmc.tritonbench import inputs
from mtmc.tritonbench.dispatch import tensors_of
from mtmc.tritonbench.heard import heard
from mtmc.tritonbench.task_file import TaskFile, run_script
from mtmc.wire.source import read_source
from mtmc.wire.task_error import TaskError, first_line

CLASS = "performance_metrics"  # as the benchmark's files call it
TIMING = ("get_runtime", "get_do_bench_config", "run_benchmark")  # what the benchmark's files measure with
MEASURING = ("get_gbps", "get_tflops", *TIMING)
SHARE = 16  # arguments and results of a size may take one part of so many of the memory: they are kept several times
SHARE_BETWEEN = (
    4  # and what the golden code computes in between one of so many: the judge's truth takes twice its bytes
)
BEYOND = 1 << 30  # a place that no list of sizes has


class Unlisted(Exception):
    """The benchmark's own code fails where it lists its sizes."""


def at_places(task: TaskFile, file: Path, places: list[int]) -> TaskFile:
    """The task with the sizes at these places of the file's list instead of its tests."""
    calls = tuple(f'{CLASS}().run({place}, "cuda")\n' for place in places)
    return replace(task, tests=script_of(task, file), parts=calls)


def script_of(task: TaskFile, file: Path, without: tuple[str, ...] = MEASURING) -> str:
    """Everything of the file but these methods, each loop over all sizes made one over a single size. A TaskError: no such file."""
    doing = f"reading the performance sizes of {task.name}"
    if not file.is_file():
        raise TaskError(doing, "no such file", str(file), "a whole checkout of github.com/thunlp/TritonBench")
    try:
        tree = ast.parse(read_source(file))
    except SyntaxError as error:
        raise TaskError(doing, f"{file.name} is no Python", str(error)) from error
    kept = [node for node in tree.body if isinstance(node, ast.Assign | ast.FunctionDef | ast.ClassDef)]
    for node in kept:
        if isinstance(node, ast.ClassDef) and node.name == CLASS:
            node.body = [part for part in node.body if getattr(part, "name", "") not in without]
            limit_sizes(node, doing)
            break
    else:
        raise TaskError(doing, f"{file.name} defines no such class", wanted=CLASS)
    used = {node.id for one in kept for node in ast.walk(one) if isinstance(node, ast.Name)}
    imports = [text for node in tree.body for text in imports_of(node, used, task)]
    return "\n".join([inspect.getsource(inputs), *imports, *map(ast.unparse, kept), ""])


def limit_sizes(metrics: ast.ClassDef, doing: str) -> None:
    """Puts `self.at_place(...)` around what the loop goes through that collects the sizes."""
    for function in metrics.body:
        if isinstance(function, ast.FunctionDef) and function.name == "get_input_tensors":
            own = function.args.args[0].arg
            collecting = [node for node in ast.walk(function) if isinstance(node, ast.For) and collects(node)]
            if collecting:  # the outermost one comes first
                loop = collecting[0]
                loop.iter = ast.Call(ast.Attribute(ast.Name(own), "at_place"), [loop.iter], [])
                return
    raise TaskError(doing, "no loop of get_input_tensors() adds to input_tensors")


def collects(loop: ast.For) -> bool:
    calls = [node.func for node in ast.walk(loop) if isinstance(node, ast.Call)]
    return any(
        isinstance(call, ast.Attribute) and ast.unparse(call).endswith(".input_tensors.append") for call in calls
    )


def imports_of(node: ast.stmt, used: set[str], task: TaskFile) -> list[str]:
    """Lines for the imports that are needed. What the task's file defines is there already, and so is the benchmark's base class."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    lines = []
    for one in node.names:
        name = one.asname or one.name.split(".")[0]
        if name not in used or name == inputs.Performance_Metrics.__name__:
            continue
        if isinstance(node, ast.ImportFrom) and (one.name == task.function or is_file_of(task, node)):
            lines += [f"{name} = {one.name}"] if name != one.name else []
        else:
            alone = (
                ast.Import([one]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [one], node.level)
            )
            lines.append(ast.unparse(alone))
    return lines


def is_file_of(task: TaskFile, node: ast.ImportFrom) -> bool:
    return (node.module or "").split(".")[-1] == task.name


def chosen(task: TaskFile, device: str, file: str, each: int, largest: int) -> tuple[list[int], str]:
    """The places of `each` sizes, spread evenly over those whose arguments and results take `largest` bytes at most (0: a share of
    the memory), the largest of them included; and which were left out, in words, or ""."""
    path, memory = Path(file), memory_of(device)
    limit, between = largest or memory // SHARE, memory // SHARE_BETWEEN
    with heard():
        head = at_places(task, path, []).on_cpu()
        try:
            places = count_of(run_script(head, head.golden, path, None, 0)[CLASS]())
        except (Exception, SystemExit) as error:  # whatever it raises
            raise Unlisted(first_line(error)) from error
        sizes = [taken(at_places(task, path, [place]).on_cpu(), path) for place in range(places)]
    fitting = [place for place, size in enumerate(sizes) if size.passed <= limit and size.largest <= between]
    words = (
        ""
        if len(fitting) == len(sizes)
        else (
            f"{len(sizes) - len(fitting)} of {len(sizes)} sizes, whose arguments and results take more than {limit:,} bytes, "
            f"or a value in between more than {between:,}"
        )
    )
    return spread(sorted(fitting, key=lambda place: sizes[place].passed), each), words


def count_of(metrics: Any) -> int:
    """How many sizes it has; none is made."""
    metrics.place = BEYOND
    metrics.get_input_tensors()
    return metrics.places


def spread(items: list[int], each: int) -> list[int]:
    """`each` of them at most, evenly, the last one always."""
    last, parts = len(items) - 1, min(each, len(items)) - 1
    return [items[last - (last * part + parts // 2) // max(parts, 1)] for part in range(parts, -1, -1)]


class Taken(TorchDispatchMode):
    """The bytes of the largest tensor that is made while it is on, and of the arguments and results that are `passed`."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = self.passed = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tensors_of(result):
            self.largest = max(self.largest, int(tensor.untyped_storage().nbytes()))
        return result

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            self.passes([args, kwargs])
            result = function(*args, **kwargs)
            self.passes(result)
            return result

        return called

    def passes(self, values: Any) -> None:
        self.passed += sum(int(tensor.numel()) * tensor.itemsize for tensor in tensors_of(values))


def taken(task: TaskFile, file: Path) -> Taken:
    """Of all calls of the script, found without computing or holding a value. What cannot be known so (how many elements a mask
    chooses) counts as nothing."""
    found = Taken()
    with contextlib.suppress(Exception):  # the run with values will say what is wrong, if anything is
        with FakeTensorMode(shape_env=ShapeEnv()), found:
            for part in task.scripts():
                run_script(part, part.golden, file, found.of, 0)
    return found


def memory_of(device: str) -> int:
    """Bytes: the machine's, or those of its GPU where they are fewer."""
    own = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return own if device == "cpu" else min(own, torch.cuda.get_device_properties(0).total_memory)
