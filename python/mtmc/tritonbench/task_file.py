"""A task of TritonBench (github.com/thunlp/TritonBench): golden code, a line of exactly 146 `#`, and tests that call its function."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from mtmc.task.task import seed_everything
from mtmc.wire.source import read_source
from mtmc.wire.task_error import TaskError

SEPARATOR = "#" * 146
DEVICE = re.compile(r"""(["'])cuda(?::\d+)?\1""")


def on_cpu(text: str) -> str:
    """The same code for a machine without a GPU: 'cuda' becomes 'cpu', whether it is said or called."""
    return (
        DEVICE.sub(r"\1cpu\1", text)
        .replace(".cuda()", ".cpu()")
        .replace("torch.cuda.synchronize(", "torch.cpu.synchronize(")
    )


@dataclass(frozen=True)
class TaskFile:
    name: str
    function: str  # that the tests call
    golden: str
    tests: str
    parts: tuple[str, ...] = ("",)  # ends of the tests: they are run with each, one after the other

    def on_cpu(self) -> TaskFile:
        parts = tuple(map(on_cpu, self.parts))
        return replace(self, golden=on_cpu(self.golden), tests=on_cpu(self.tests), parts=parts)

    def scripts(self) -> list[TaskFile]:
        """The task with each of the ends alone."""
        return [replace(self, tests=self.tests + part, parts=("",)) for part in self.parts]


def read_task_file(path: Path) -> TaskFile:
    """A TaskError: not a task of TritonBench."""
    doing = f"reading {path.name}"
    try:
        text = read_source(path)
    except SyntaxError as error:
        raise TaskError(doing, "its text cannot be read", str(error), "UTF-8, or the encoding that it names") from error
    parts = re.split(rf"^{SEPARATOR}$", text, flags=re.MULTILINE)
    if len(parts) != 2:
        raise TaskError(doing, "not a task of TritonBench", f"{len(parts) - 1} separators", "one line of 146 #")
    try:
        tree = ast.parse(parts[0])
    except SyntaxError as error:
        raise TaskError(doing, "the golden code is no Python", str(error)) from error
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not defined:
        raise TaskError(doing, "the golden code defines no function")
    function = path.stem if path.stem in defined else defined[-1]
    return TaskFile(path.stem, function, *parts)


def definition(task: TaskFile) -> ast.FunctionDef:
    """Of the task's function, as its golden code has it."""
    functions = [node for node in ast.parse(task.golden).body if isinstance(node, ast.FunctionDef)]
    return next(node for node in functions if node.name == task.function)


@contextlib.contextmanager
def importable(name: str, namespace: dict[str, Any]) -> Iterator[None]:
    """Tests may import their function from the file that they stand in, as if its folder were the current one."""
    module = ModuleType(name)
    module.__dict__.update(namespace)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


def run_script(task: TaskFile, before: str, file: Path, wrap: Callable[[Any], Any] | None, seed: int) -> dict[str, Any]:
    """Runs `before` and then the task's tests in this process, as the halves of one script, and returns all that it defines. `wrap`,
    where there is one, makes what the tests call of the function that `before` defines."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    seed_everything(seed)
    exec(compile(before, str(file), "exec"), namespace)
    if wrap is not None:
        namespace[task.function] = wrap(namespace[task.function])
    line = before.count("\n") + 2
    with importable(task.name, namespace):
        exec(compile("\n" * line + task.tests, str(file), "exec"), namespace)
    return namespace
