#!/usr/bin/env python3
"""Writes variations of KernelBench's tasks: would what is fast on the benchmark's own shapes be so on a user's?

  bench/variations.py --kernelbench CHECKOUT --out FOLDER [--count 40] [--seed 0] [--tasks PATTERN...]
  mtmc bench files --root FOLDER --out RUN
  bench/variations.py --judge RUN/rows.jsonl --against BENCHMARK/rows.jsonl

Each file reads its task from the checkout by path, so that nothing of it is copied, and changes one thing:
  odd      one size at the file's top becomes odd: 7/8 of itself, and one more where that is even
  smaller  one of them is halved
  bf16, fp16   model and floating-point arguments in that type
  strided  each argument of two dimensions or more is a transposed copy: the same values, other strides
Only sizes with which the task still runs on fake tensors are taken. Judging: a variation keeps up where it is certified and the
logarithm of its speedup over eager is at least 80 % of the task's; exit code 1 when one does not.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import json
import math
import random
import sys
from pathlib import Path
from typing import Any

SIZES = ("odd", "smaller")
KINDS = (*SIZES, "bf16", "fp16", "strided")
KEPT = 0.8  # of the logarithm of a speedup
LEAST = 8  # a size that can be varied
FILE = '''"""{task} of KernelBench, {what}."""
from pathlib import Path

import torch

_text = Path({path!r}).read_text()
for _old, _new in {changes!r}:
    assert _text.count(_old) == 1, _old
    _text = _text.replace(_old, _new)
_task = {{"__name__": "task"}}
exec(compile(_text, {path!r}, "exec"), _task)


class Model(_task["Model"]):
    pass


def get_init_inputs():
    return _task["get_init_inputs"]()


def get_inputs():
    return [{argument} for x in _task["get_inputs"]()]
'''
TYPED = """

_dtype = {dtype}
_init = Model.__init__


def _typed(self, *args, **kwargs):
    _init(self, *args, **kwargs)
    self.to(_dtype)


Model.__init__ = _typed
"""
FLOATING = "x.to({dtype}) if isinstance(x, torch.Tensor) and x.is_floating_point() else x"
STRIDED = "x.transpose(-1, -2).contiguous().transpose(-1, -2) if isinstance(x, torch.Tensor) and x.dim() > 1 else x"


def sizes(text: str) -> list[tuple[str, str, int]]:
    """Lines at a task's top that give one name a size: (the line, the name, the size)."""
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Constant):
            continue
        name, value = node.targets[0], node.value.value
        line = ast.get_source_segment(text, node) or ""
        if isinstance(name, ast.Name) and type(value) is int and value >= LEAST and text.count(line) == 1:
            found.append((line, name.id, value))
    return found


def refusal(source: str) -> str:
    """Why a task does not run on fake tensors: sizes of layers and arguments no longer fit together. Empty: it runs."""
    import torch
    from torch._subclasses import FakeTensorMode

    try:
        with FakeTensorMode():
            names: dict[str, Any] = {"__name__": "variation"}
            exec(compile(source, "variation", "exec"), names)
            with torch.no_grad():
                names["Model"](*names["get_init_inputs"]())(*names["get_inputs"]())
    except Exception as error:  # whatever it says: this is no task
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"
    return ""


def variation(task: str, path: Path, kind: str, rng: random.Random) -> str | None:
    """Its text; None where the task has none of this kind."""
    fields = {"task": task, "path": str(path.resolve())}
    if kind == "strided":
        return FILE.format(**fields, what="arguments with other strides", changes=[], argument=STRIDED)
    if kind not in SIZES:
        dtype = {"bf16": "torch.bfloat16", "fp16": "torch.float16"}[kind]
        text = FILE.format(**fields, what=f"in {dtype}", changes=[], argument=FLOATING.format(dtype=dtype))
        return text + TYPED.format(dtype=dtype)
    lines = sizes(path.read_text())
    rng.shuffle(lines)
    for line, name, value in lines:
        other = value // 2 if kind == "smaller" else value * 7 // 8 + (value * 7 // 8 + 1) % 2
        changes = [(line, f"{name} = {other}")]
        text = FILE.format(**fields, what=f"{name} = {other} instead of {value}", changes=changes, argument="x")
        if not refusal(text):
            return text
    return None


def write(args: argparse.Namespace) -> int:
    root = args.kernelbench / "KernelBench"
    tasks = [f"{path.parent.name}/{path.stem}" for path in sorted(root.glob("level[12]/*.py"))]
    tasks = [task for task in tasks if any(fnmatch.fnmatch(task, word) for word in args.tasks)]
    if not tasks:
        raise SystemExit(f"no task of {root} is meant by {' '.join(args.tasks)}")
    rng = random.Random(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    written, why = 0, "none has a size that can be varied"
    for number in range(20 * args.count):
        if written == args.count:
            return 0
        task, kind = rng.choice(tasks), KINDS[number % len(KINDS)]
        file = args.out / f"{task.replace('/', '_')}__{kind}.py"
        text = None if file.exists() else variation(task, root / f"{task}.py", kind, rng)
        if text is None:
            continue
        if refused := refusal(text):
            why = f"{file.stem}: {refused}"
            continue
        file.write_text(text)
        written += 1
        print(file.stem)
    raise SystemExit(
        f"only {written} variations of these tasks were found, wanted {args.count}; the last refusal: {why}"
    )


def rows_of(file: Path) -> dict[str, dict[str, Any]]:
    """The last row of each task."""
    return {row["task"]: row for row in map(json.loads, file.read_text().splitlines())}


def speedup(row: dict[str, Any]) -> float | None:
    """Over eager, of a row that is certified."""
    return row["speedup"]["eager"] if row["error"] is None and row["certified"] else None


def judge(varied: dict[str, dict[str, Any]], tasks: dict[str, dict[str, Any]]) -> int:
    behind = 0
    for name, row in sorted(varied.items()):
        task = name.split("__")[0].replace("_", "/", 1)
        now, then = speedup(row), speedup(tasks[task]) if task in tasks else None
        if now is None or then is None:
            verdict = "not certified" if now is None else "its task has no row"
        else:
            kept = math.log(now) / math.log(then) if then > 1.05 else 1 + min(0, math.log(now))
            verdict = f"{now:.2f}x of {then:.2f}x" + ("" if kept >= KEPT else ", behind")
        behind += now is None or verdict.endswith("behind")
        print(f"{name}: {verdict}")
    print(f"{len(varied) - behind} of {len(varied)} keep up")
    return 1 if behind else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench", type=Path, help="a checkout of ScalingIntelligence/KernelBench")
    parser.add_argument("--out", type=Path, help="where the files go")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tasks", nargs="+", default=["*"], metavar="PATTERN", help="of these only: 'level2/1*'")
    parser.add_argument("--judge", type=Path, metavar="ROWS", help="rows of a run over variations")
    parser.add_argument("--against", type=Path, metavar="ROWS", help="rows of the tasks themselves")
    args = parser.parse_args()
    if args.judge and args.against:
        return judge(rows_of(args.judge), rows_of(args.against))
    if args.kernelbench is None or args.out is None:
        parser.error("--kernelbench and --out write variations, --judge and --against judge a run over them")
    return write(args)


if __name__ == "__main__":
    sys.exit(main())
