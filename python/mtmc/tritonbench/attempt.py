"""A candidate for a TritonBench task: one file with the task's function, which hands each call to the kernel of its case. It is
run with the task's tests and compared with the golden code's run."""

from __future__ import annotations

import ast
import inspect
import pprint
from pathlib import Path
from typing import Any

import torch

from mtmc.tritonbench import dispatch
from mtmc.tritonbench.compare import difference
from mtmc.tritonbench.heard import heard
from mtmc.tritonbench.reconstruct import RECONSTRUCTED, reconstructed
from mtmc.tritonbench.record import Recorder
from mtmc.tritonbench.split import SEEDS
from mtmc.tritonbench.task_file import SEPARATOR, TaskFile, definition, run_script
from mtmc.wire.task_error import first_line


def candidate_text(task: TaskFile, cases: list[dict[str, Any]], refused: dict[str, str]) -> str:
    """`cases`: [{key, kernel, changed, returns, complex, decisions}], kernel the path of a file that defines ModelNew; `refused`:
    {key: the error that the golden code has for a call}."""
    function = definition(task)
    parameters = function.args
    for parameter in ast.walk(parameters):
        if isinstance(parameter, ast.arg):
            parameter.annotation = None
    table: dict[str, list[dict[str, Any]]] = {}
    for one in cases:
        kept = {key: one[key] for key in ("kernel", "changed", "returns", "complex", "decisions")}
        table.setdefault(one["key"], []).append(kept)
    given = ", ".join(f"{name!r}: {name}" for name in names_in_order(parameters))
    tables = f"{pprint.pformat(table, width=120)}, {pprint.pformat(refused, width=120)}"
    return (
        f"{inspect.getsource(dispatch)}\n\n_kernels = Kernels({task.function!r}, {tables})\n\n\n"
        f"def {task.function}({ast.unparse(parameters)}):\n    return _kernels({{{given}}})\n"
    )


def names_in_order(parameters: ast.arguments) -> list[str]:
    """In the order of inspect.signature, which is that of a call's key."""
    star = [parameters.vararg] if parameters.vararg else []
    stars = [parameters.kwarg] if parameters.kwarg else []
    return [one.arg for one in [*parameters.posonlyargs, *parameters.args, *star, *parameters.kwonlyargs, *stars]]


def attempt(task: TaskFile, folder: Path, device: str, output: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """Writes candidate.py and official.py (the candidate, the separator, the tests) into the folder and runs the latter. `output`
    is what the golden code printed. {called, executed, strict, reconstructed (null where that is not asked), reason}"""
    here = task.on_cpu() if device == "cpu" else task
    golden = torch.load(folder / "golden.pt", weights_only=True, mmap=True)
    (folder / "golden.pt").unlink()  # maybe gigabytes, and this was its use
    text = candidate_text(here, cases, {call["key"]: call["raised"] for call in golden[0] if call["raised"]})
    script = folder / "official.py"
    (folder / "candidate.py").write_text(text)
    script.write_text(f"{text}\n{SEPARATOR}\n{here.tests}{''.join(here.parts)}")
    verdict = {"called": False, "executed": False, "strict": False, "reconstructed": None, "reason": ""}
    for place, seed in enumerate(SEEDS):
        recorder = Recorder()
        with heard() as said:
            try:
                for part in here.scripts():
                    run_script(part, text, script, recorder.of, seed)
            except (Exception, SystemExit) as error:
                return verdict | {"reason": first_line(error)}
            printed = said()
        calls = [call.to_plain() for call in recorder.calls]
        if place == 0:
            verdict |= {"called": True, "executed": printed == output, "strict": True}
        if verdict["strict"]:
            verdict["reason"] = difference(golden[place], calls)
            verdict["strict"] = not verdict["reason"]
        if task.name in RECONSTRUCTED and verdict["reconstructed"] is not False:
            verdict["reconstructed"] = not reconstructed(task.name, calls)
    return verdict
