"""Suite G: a script that was written from an instruction, held to the golden one by the same tests, for the same seeds."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mtmc.tritonbench.compare import difference_of_leaf
from mtmc.tritonbench.room import Kept, run_in_room
from mtmc.tritonbench.split import SEEDS
from mtmc.tritonbench.task_file import TaskFile, on_cpu, read_task_file


def golden(file: Path, folder: Path, device: str, hidden: list[str]) -> dict[str, Any]:
    """Runs the golden script. {failed: why it does not run here, or ""; excluded: why nothing can be held to it, or ""; output: what
    it printed}. golden.pt holds what its tests keep, for each of SEEDS."""
    task = task_on(file, device)
    runs = []
    for seed in (*SEEDS, SEEDS[0]):
        run = run_in_room(task, task.golden, folder / "golden", device, seed, hidden)
        runs.append(run)
        if run["failed"]:
            shutil.rmtree(folder / "golden")
            return {"failed": run["failed"], "excluded": "", "output": run["output"]}
    shutil.rmtree(folder / "golden")  # what no candidate is to read
    *seeds, again = runs
    excluded = ""
    if unread := next((run["unread"] for run in runs if run["unread"]), ""):
        excluded = unread
    elif not any(tells(run["kept"]) for run in seeds):
        excluded = "its tests keep no result"
    elif changes := difference_of_kept(runs[0]["kept"], again["kept"]):
        excluded = "the golden code differs from itself: " + changes
    torch.save([run["kept"] for run in seeds], folder / "golden.pt")
    return {"failed": "", "excluded": excluded, "output": runs[0]["output"]}


def attempt_script(
    file: Path, folder: Path, device: str, output: str, code: str | None, hidden: list[str]
) -> dict[str, Any]:
    """Holds a script (none: the golden one itself) to the golden one. {called, executed, strict, reason}"""
    task = task_on(file, device)
    text = task.golden if code is None else on_cpu(code) if device == "cpu" else code
    task = replace(task, golden="")  # who is forked from here has our memory
    hidden = [*hidden, str(folder / "golden.pt")]
    runs = []
    for seed in SEEDS:
        runs.append(run_in_room(task, text, folder / "candidate", device, seed, hidden))
        if runs[0]["failed"]:
            return {"called": False, "executed": False, "strict": False, "reason": runs[0]["failed"]}
    wanted = torch.load(folder / "golden.pt", weights_only=True)  # only now, as above
    reason = ""
    for run, result in zip(runs, wanted, strict=True):
        reason = reason or run["failed"] or run["unread"] or difference_of_kept(result, run["kept"])
    return {"called": True, "executed": runs[0]["output"] == output, "strict": not reason, "reason": reason}


def task_on(file: Path, device: str) -> TaskFile:
    task = read_task_file(file)
    return task.on_cpu() if device == "cpu" else task


def tells(run: Kept) -> bool:
    """Something is kept that can be right or wrong."""
    return any(leaf is not None for one in run for leaf in one["leaves"])


def difference_of_kept(wanted: Kept, got: Kept) -> str:
    """The first difference in words, or ""."""
    found = {one["name"]: one for one in got}
    for one in wanted:
        other = found.get(one["name"])
        if other is None:
            return f"{one['name']} is missing"
        if one["structure"] != other["structure"]:
            return f"{one['name']} is {other['structure']} instead of {one['structure']}"
        for place, (leaf, its) in enumerate(zip(one["leaves"], other["leaves"], strict=True)):
            if difference := difference_of_leaf(leaf, its):
                return f"{one['name']}, leaf {place}: {difference}"
    return ""
