"""Trees in which the best next action is known and stands in the code: of three places each is open or done, doing an open one
is faster, doing a done one spills, and `library` takes a spill back."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

# what is open, what it becomes, the action, how much of the time it leaves
PLACES = [
    ("matmul(x)", "tiled_matmul(x)", "tile a", "tile %1", 0.5),
    ("gelu(a)", "fused(a)", "fuse b", "fuse %2", 0.6),
    ("softmax(b)", "lowered(b)", "lower c", "lower %3", 0.7),
]
SPILLED, WRONG = 1.6, 16  # the place behind the sixteen right ones


def code_of(is_open: tuple[bool, ...], spilled: bool) -> str:
    lines = ["def forward(x):"]
    for name, opened, (before, after, *_) in zip("abc", is_open, PLACES, strict=True):
        lines.append(f"    {name} = {before if opened else after}")
    return "\n".join([*lines, "    spill(c)"] if spilled else lines) + "\n"


def number_of(is_open: tuple[bool, ...], spilled: bool) -> int:
    return sum(1 << i for i, opened in enumerate(is_open) if not opened) + 8 * spilled


def place(is_open: tuple[bool, ...], spilled: bool, start_time: float) -> dict:
    time, actions = start_time, []
    for i, (_, _, text, action, left) in enumerate(PLACES):
        done = tuple(opened and i != j for j, opened in enumerate(is_open))
        to = number_of(done, spilled) if is_open[i] else WRONG if spilled else number_of(is_open, True)
        actions.append([text, action, 0.3, round(-math.log(left), 4) if is_open[i] else -0.1, [to]])
        time *= 1 if is_open[i] else left
    actions.append(["library", "library %0", 0.1, -0.1, [number_of(is_open, False) if spilled else -1]])
    return {
        "state": f"s{number_of(is_open, spilled)}", "code": code_of(is_open, spilled), "outcome": "certified",
        "standing": "right", "time": time * (SPILLED if spilled else 1), "actions": actions, "left_out": 0,
    }  # fmt: skip


def tree(name: str, hardware: str, start: tuple[bool, ...]) -> dict:
    """All places, numbered so that the start is the first."""
    begun = number_of(start, False)
    start_time = 1.0
    for opened, (*_, left) in zip(start, PLACES, strict=True):
        start_time /= 1 if opened else left
    places = [None] * 16
    for spilled in (False, True):
        for is_open in itertools.product((True, False), repeat=3):
            places[number_of(is_open, spilled)] = place(is_open, spilled, start_time)
    places.append({**places[0], "state": "w", "outcome": "wrong-result", "standing": "wrong", "actions": []})
    swap = {begun: 0, 0: begun}
    for one in places:
        for action in one["actions"]:
            action[4] = [swap.get(to, to) for to in action[4]]
    places[0], places[begun] = places[begun], places[0]
    return {"name": name, "hardware": hardware, "description": f"module {name}", "view": "code", "places": places}


def write_small_trees(file: Path) -> None:
    machines = ["V100: 80 SMs", "A100: 108 SMs", "H100: 132 SMs"]
    starts = list(itertools.product((True, False), repeat=3))
    trees = [
        tree(f"{machine[:4].lower()}-{i}-{copy}", machine, start)
        for i, start in enumerate(starts) for machine in machines for copy in range(2)
    ]  # fmt: skip
    lines = [{"format": "mtmc-trees-3", "trees": len(trees)}, *trees]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
