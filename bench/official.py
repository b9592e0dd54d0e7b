#!/usr/bin/env python3
"""Does KernelBench's own evaluator agree with our `official` verdict on the files that `mtmc bench kernelbench` wrote?

  bench/official.py --kernelbench CHECKOUT --run FOLDER [--trials 5] [--out FILE]

FOLDER is the benchmark's output (rows.jsonl and a folder for each task). Each certified kernel.py is given, in a process of its own,
to `eval_kernel_against_ref` of the checkout (src/kernelbench/eval.py, ScalingIntelligence/KernelBench), with its tolerance and
without its timing. What the evaluator imports and never uses here (requests, openai, ...) is an empty module where it is missing. One
line of JSON a task is appended to --out (FOLDER/official.jsonl); a task that stands there is not asked again. Exit code 1 when
the two disagree anywhere.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import json
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

UNUSED = ("requests", "openai", "litellm", "dotenv", "datasets", "pydantic", "tqdm")  # by what is called here
SEED = 42  # that its scripts take


class Bare:
    """Stands for anything of a module that is not there. A pydantic model made of it keeps its fields."""

    def __init__(self, *_: Any, **fields: Any) -> None:
        self.__dict__.update(fields)


def bare(name: str) -> type[Bare]:
    """An absent module's attribute of that name."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Bare


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: makes the modules that nobody else has found."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self) if name in UNUSED else None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__getattr__ = bare  # type: ignore[method-assign]


def evaluate(checkout: Path, reference: Path, kernel: Path, trials: int) -> dict[str, Any]:
    """What KernelBench says of one file. Runs in a process of its own: kernels may end it."""
    sys.meta_path.append(Absent())
    sys.path.insert(0, str(checkout / "src"))
    import torch
    from kernelbench.eval import eval_kernel_against_ref

    result = eval_kernel_against_ref(
        reference.read_text(),
        kernel.read_text(),
        seed_num=SEED,
        num_correct_trials=trials,
        measure_performance=False,
        device=torch.device("cuda", torch.cuda.current_device()),
        backend="triton",
        check_for_excessive_speedup=False,
    )
    if result is None:
        return {"theirs": None, "why": "its evaluator returned nothing"}
    return {"theirs": bool(result.compiled and result.correctness), "why": str(result.metadata)[:2000]}


def asked(args: argparse.Namespace, task: str) -> dict[str, Any]:
    """The same, from a process of its own."""
    reference = args.kernelbench / "KernelBench" / f"{task}.py"
    kernel = args.run / task / "kernel.py"
    command = [sys.executable, __file__, "--kernelbench", args.kernelbench, "--one", reference, kernel]
    command += ["--trials", args.trials]
    try:
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=args.patience, check=False
        )
    except subprocess.TimeoutExpired:
        return {"theirs": None, "why": f"no answer in {args.patience:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"theirs"')]
    if not lines:
        return {"theirs": None, "why": f"exit code {done.returncode}: {done.stderr[-2000:]}"}
    return json.loads(lines[-1])


def rows_of(file: Path) -> dict[str, dict[str, Any]]:
    """The last row of each task."""
    rows = map(json.loads, file.read_text().splitlines()) if file.exists() else ()
    return {row["task"]: row for row in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench", type=Path, required=True, help="a checkout of ScalingIntelligence/KernelBench")
    parser.add_argument("--run", type=Path, help="the output folder of `mtmc bench kernelbench`")
    parser.add_argument("--trials", type=int, default=5, help="random inputs a task")
    parser.add_argument("--patience", type=float, default=300, help="seconds a task may take")
    parser.add_argument("--out", type=Path, help="default: official.jsonl in the output folder")
    parser.add_argument("--one", type=Path, nargs=2, metavar=("REFERENCE", "KERNEL"), help="ask about one file only")
    args = parser.parse_args()
    if not (args.kernelbench / "src" / "kernelbench" / "eval.py").exists():
        parser.error(f"--kernelbench {args.kernelbench}: no src/kernelbench/eval.py there")
    if args.one:
        print(json.dumps(evaluate(args.kernelbench, *args.one, args.trials)))
        return 0
    if args.run is None or not (args.run / "rows.jsonl").exists():
        parser.error("--run names no folder with a rows.jsonl")
    out = args.out or args.run / "official.jsonl"
    known = rows_of(out)
    with out.open("a") as lines:
        for task, row in rows_of(args.run / "rows.jsonl").items():
            if row["error"] is not None or not row.get("certified") or task in known:
                continue
            known[task] = {"task": task, "ours": row["official"]} | asked(args, task)
            print(json.dumps(known[task]), file=lines, flush=True)
            print(f"{task}: ours {known[task]['ours']}, theirs {known[task]['theirs']}", flush=True)
    alike = [task for task, row in known.items() if row["ours"] == row["theirs"]]
    print(f"{len(alike)} of {len(known)} alike")
    for task in sorted(known.keys() - set(alike)):
        print(f"{task}: ours {known[task]['ours']}, theirs {known[task]['theirs']}: {known[task]['why'][:300]}")
    return 0 if len(alike) == len(known) else 1


if __name__ == "__main__":
    sys.exit(main())
