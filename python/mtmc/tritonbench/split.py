"""A TritonBench task taken apart: its golden code is run with its tests, and each way of calling it becomes a task file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from mtmc.tritonbench.heard import heard
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
    def forward(self{parameters}):
        return CASE.compute({names})


def get_inputs():
    return CASE.draw()
'''


def split(file: Path, folder: Path, device: str) -> dict[str, Any]:
    """Writes golden.pt (what each call gave, for each of SEEDS) and caseN.py into the folder. {failed: why the golden code does not
    run here, or ""; output: what it printed; cases: [{name, file, key, refused, changed, returns, complex, decisions}]}"""
    task = read_task_file(file)
    here = task.on_cpu() if device == "cpu" else task
    runs, output = [], ""
    for seed in SEEDS:
        recorder = Recorder()
        with heard() as said:
            try:
                run_script(here, here.golden, file, recorder.of, seed)
            except (Exception, SystemExit) as error:
                return {"failed": first_line(error), "output": said(), "cases": []}
            output = output or said()
        runs.append(recorder.calls)
    if not runs[0]:
        return {"failed": f"the tests never call {task.function}", "output": output, "cases": []}
    torch.save([[call.to_plain() for call in calls] for calls in runs], folder / "golden.pt")
    return {"failed": "", "output": output, "cases": written(task.on_cpu(), runs[0], folder)}


def written(task: TaskFile, calls: list[Call], folder: Path) -> list[dict[str, Any]]:
    cases: dict[tuple[str, ...], dict[str, Any]] = {}
    for index, call in enumerate(calls):
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
