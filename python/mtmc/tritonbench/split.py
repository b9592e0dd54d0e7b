"""A TritonBench task taken apart: its golden code is run with its tests, and each way of calling it becomes a task file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from mtmc.tritonbench.heard import heard
from mtmc.tritonbench.performance import Unlisted, at_places, chosen
from mtmc.tritonbench.record import Call, Recorder, complex_places
from mtmc.tritonbench.task_file import TaskFile, read_task_file, run_script
from mtmc.wire.task_error import first_line

SEEDS = (0, 1)  # the tests are run with each; the first one's output is the official comparison's
CASE = '''"""Case {number} of TritonBench's {name}: {function}({key})."""
{golden}
import torch
from mtmc.tritonbench.replay import Case

CASE = Case({function}, {name!r}, {tests!r}, {call}, {changed}, {returns}, {decisions})


class Model(torch.nn.Module):
    def _apply(self, fn, recurse=True):
        CASE.moved_by(fn)
        return super()._apply(fn, recurse)

    def forward(self{parameters}):
        return CASE.compute({names})


def get_inputs():
    return CASE.draw()
'''


def split(file: Path, folder: Path, device: str, sizes: dict[str, Any] | None) -> dict[str, Any]:
    """Writes golden.pt (what each call gave, for each of SEEDS) and caseN.py into the folder. `sizes`: of a task at performance sizes
    {file, each, largest}, see performance.py. {failed: why the golden code does not run here, or ""; output: what it printed; places,
    left_out: which of its sizes; cases: [{name, file, key, refused, changed, returns, complex, decisions}]}"""
    task = read_task_file(file)
    found: dict[str, Any] = {"failed": "", "output": "", "places": [], "left_out": "", "cases": []}
    if sizes:
        try:
            found["places"], found["left_out"] = chosen(task, device, **sizes)
        except Unlisted as error:
            return found | {"failed": f"its sizes cannot be listed: {error}"}
        if not found["places"]:
            return found | {"failed": f"no size fits: left out are {found['left_out']}"}
        task = at_places(task, Path(sizes["file"]), found["places"])
    here = task.on_cpu() if device == "cpu" else task
    runs = []
    for seed in SEEDS:
        with heard() as said:
            try:
                runs.append([recorded(part, file, seed) for part in here.scripts()])
            except (Exception, SystemExit) as error:
                return found | {"failed": first_line(error), "output": said()}
            found["output"] = found["output"] or said()
    if not any(runs[0]):
        return found | {"failed": f"the tests never call {task.function}"}
    torch.save([[plain(call) for calls in run for call in calls] for run in runs], folder / "golden.pt")
    return found | {"cases": written(task.on_cpu().scripts(), runs[0], folder)}


def recorded(task: TaskFile, file: Path, seed: int) -> list[Call]:
    recorder = Recorder()
    run_script(task, task.golden, file, recorder.of, seed)
    return recorder.calls


def plain(call: Call) -> dict[str, Any]:
    """Without the arguments, which nothing is compared with and may be gigabytes."""
    return call.to_plain() | {"arguments": []}


def written(scripts: list[TaskFile], runs: list[list[Call]], folder: Path) -> list[dict[str, Any]]:
    """`runs`: the calls of each script."""
    cases: dict[tuple[str, ...], dict[str, Any]] = {}
    all_calls = [(task, *numbered) for task, calls in zip(scripts, runs, strict=True) for numbered in enumerate(calls)]
    for task, index, call in all_calls:
        way = (call.key, call.raised, str(call.decisions))
        if way in cases:
            continue
        name = f"case{len(cases) + 1}"
        case = {"name": name, "key": call.key, "changed": call.changed, "returns": call.returns, "refused": ""}
        case |= {"decisions": call.decisions, "complex": complex_places(call), "file": str(folder / f"{name}.py")}
        cases[way] = case
        if "a Generator" in call.key:
            case["refused"] = "a random generator is passed, whose state a kernel does not see"
        elif call.raised:
            case["refused"] = "the golden code refuses this call: " + call.raised
        else:
            (folder / f"{name}.py").write_text(case_text(task, index, call, len(cases)))
    return list(cases.values())


def case_text(task: TaskFile, index: int, call: Call, number: int) -> str:
    names = [f"x{place}" for place in range(len(call.arguments))]
    return CASE.format(
        number=number,
        name=task.name,
        function=task.function,
        key=call.key.replace("\\", "\\\\").replace('"', "'"),
        golden=task.golden,
        tests=task.tests,
        call=index,
        changed=call.changed,
        returns=call.returns,
        decisions=call.decisions,
        parameters="".join(", " + name for name in names),
        names=", ".join(names),
    )
