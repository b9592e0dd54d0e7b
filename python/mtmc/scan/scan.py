"""Fingerprints of task files: python -m mtmc.scan.scan REQUEST.json REPORT.json

Of every Python file among {"paths": [...]} and below them: {"files": {path: {"syntax": [hash], "graphs": [hash], "unread": why there
is no graph, or ""}}}. `syntax` are normal forms of classes and functions (syntax.py), `graphs` operator graphs
(operators.py). A file of TritonBench (its code, a line of 146 #, its tests) is run as its tests run it, on tensors without
data.
"""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from mtmc.scan.operators import NotRun, called_graphs, operator_hash
from mtmc.scan.syntax import hashes
from mtmc.task.task import load_task
from mtmc.wire.report import report
from mtmc.wire.source import read_source
from mtmc.wire.task_error import first_line

SEPARATOR = "#" * 146
SECONDS = 60  # for one file


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    def late(*_: Any) -> None:
        raise NotRun(f"it takes longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class WithoutData(TorchFunctionMode):
    """Whatever device is named, tensors have no data."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("device") is not None:
            kwargs["device"] = "meta"
        if func in (torch.Tensor.cuda, torch.Tensor.cpu):
            return args[0]
        if func is torch.Tensor.to:
            args = tuple("meta" if is_device(one) else one for one in args)
        return func(*args, **kwargs)


def is_device(value: Any) -> bool:
    return isinstance(value, torch.device) or (isinstance(value, str) and value.split(":")[0] in ("cuda", "cpu"))


def graphs_of_tests(path: Path, code: str, tests: str) -> list[str]:
    """Of what the tests of a TritonBench file call."""
    if "triton" in code:
        raise NotRun("its operators are Triton's")
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(code, str(path), "exec"), namespace)
    with WithoutData():
        return called_graphs(namespace, lambda: exec(compile(tests, str(path), "exec"), namespace))


def graphs_of(path: Path, source: str) -> list[str]:
    code, separator, tests = source.partition(SEPARATOR)
    if separator:
        return graphs_of_tests(path, code, tests)
    if "class Model(" not in source:
        raise NotRun("it defines no Model")
    task = load_task({"name": path.stem, "file": str(path), "attr": "Model"})

    def build() -> torch.nn.Module:
        args, kwargs = task.constructor_arguments()
        return task.target(*args, **kwargs).train(task.mode == "train")

    with WithoutData():
        return [operator_hash(build, getattr(task.namespace, task.entry))]


def fingerprint(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"syntax": [], "graphs": [], "unread": ""}
    try:
        source = read_source(path)
        code = source.partition(SEPARATOR)[0]
        found["syntax"] = sorted(hashes(code).values())
        with limited(SECONDS), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found["graphs"] = graphs_of(path, source)
    except SyntaxError as error:
        found["unread"] = f"not Python: {error.msg}"
    except NotRun as error:
        found["unread"] = str(error)
    except Exception as error:
        found["unread"] = first_line(error)
    return found


def files_of(paths: list[str]) -> list[Path]:
    found: list[Path] = []
    for path in map(Path, paths):
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return found


def fingerprints(request: dict[str, Any]) -> dict[str, Any]:
    return {"files": {str(path): fingerprint(path) for path in files_of(request["paths"])}}


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:], "mtmc.scan.scan", fingerprints))
