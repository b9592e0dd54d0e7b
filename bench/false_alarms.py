"""How often do the rules for errors refuse a kernel that is as exact as eager? `python bench/false_alarms.py [SESSIONS [KIND]]`

The honest kernel is the module itself with every sum and every product's inner axis in another random order: bits differ, the
precision does not. It meets fresh draws under budgets of five seeds, as in src/eval/rules.cpp. Beside the rules of today stands
twice the largest error of eager's five, without room for how they scatter, for sums in another order and for the draw itself. The draws
are the task's own, or the five of a structured KIND (few-rows).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from mtmc.referee import summation
from mtmc.referee.budgets import SEEDS, compare_calls
from mtmc.referee.referee import Referee
from mtmc.referee.tails import STEPS

FLOOR, UNIT, MOST_SPREAD, ILL, MOST_WIDER = 2.0**-21, 2.0**-24, 4.0, 0.05, 16.0
DRAWS = 10  # fresh ones under each set of budgets
HEADER = "import torch\nnn, F = torch.nn, torch.nn.functional\n"
MODULES = {
    "softmax": ("", "x.softmax(-1)", "torch.randn(32, 256)"),
    "layer norm": ("self.n = nn.LayerNorm(128)", "self.n(x)", "torch.randn(32, 128)"),
    "softmax of a million": ("", "x.softmax(-1)", "torch.randn(4096, 320)"),
    "linear layer of a million": ("self.f = nn.Linear(96, 1024)", "self.f(x)", "torch.randn(1200, 96)"),
    "layer norm of long rows": ("self.n = nn.LayerNorm(512)", "self.n(x)", "torch.randn(128, 512)"),
    "rows over their deviation": ("", "(x - x.mean(1, True)) / (x.var(1, keepdim=True) + 1e-5).sqrt()", "torch.randn(64, 256)"),
    "rows over their size": ("", "x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6)", "torch.randn(64, 256)"),
    "mean of squares (one number)": ("", "(x * x - 1).mean()", "torch.randn(64, 64)"),
    "sum near zero (few numbers)": ("", "x.sum(1)", "torch.randn(4, 4096)"),
    "two linear layers": ("self.f = nn.Sequential(nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 8))", "self.f(x)", "torch.randn(32, 96)"),
    "batch norm, training": ("self.n = nn.BatchNorm2d(3)", "self.n(x)", "torch.randn(4, 3, 16, 16)"),
    "convolutions with batch norm, training": (
        "self.f = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 1, bias=False),"
        " nn.BatchNorm2d(8), nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4))",
        "self.f(x)",
        "torch.randn(4, 3, 12, 12)",
    ),
    "distances by squares": (
        "",
        "((x * x).sum(1, keepdim=True) + (x * x).sum(1) - 2 * x @ x.t()).clamp(min=0)",
        "torch.randn(48, 64)",
    ),
}  # fmt: skip


class AnyOrder(summation.OneByOne):
    """Sums and the inner axes of products in a random order."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, args = func.overloadpacket.__name__, list(args)
        if name in ("mm", "addmm", "bmm"):
            a, b = len(args) - 2, len(args) - 1
            order = torch.randperm(args[a].shape[-1])
            args[a], args[b] = args[a][..., order], args[b].index_select(-2, order)
        elif name == "convolution" and args[8] == 1:
            order = torch.randperm(args[0].shape[1])
            args[0], args[1] = args[0][:, order], args[1][:, order]
        return super().__torch_dispatch__(func, types, args, kwargs)


def any_order(terms: torch.Tensor) -> torch.Tensor:
    return terms[torch.randperm(len(terms))].sum(0)


def opened(module: str, session: int, folder: Path) -> Referee:
    init, forward, x = MODULES[module]
    body = f"class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {init or 'pass'}\n"
    text = f"{HEADER}{body}    def forward(self, x):\n        return {forward}\ndef get_inputs():\n    return [{x}]\n"
    (folder / "model.py").write_text(text)
    (folder / "task.json").write_text(json.dumps({"name": "t", "file": str(folder / "model.py"), "attr": "Model"}))
    referee = Referee()
    request = {"op": "open", "folder": str(folder), "seed": session, "accuracy": "eager", "device": "cpu", "threads": 1}
    assert "error" not in referee.handle(request)
    return referee


def worst(runs: list[list[dict[str, Any]]], key: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in (one for run in runs for one in run if one["kind"] == "float"):
        found[one["output"]] = max(found.get(one["output"], 0.0), one[key] or 0.0)
    return found


def spread(runs: list[list[dict[str, Any]]], output: str, key: str) -> float:
    values = [one[key] or 0.0 for run in runs for one in run if one["output"] == output]
    return 1.0 if max(values) == 0 else MOST_SPREAD if min(values) == 0 else min(MOST_SPREAD, max(values) / min(values))


def refused(
    one: dict[str, Any], runs: list[list[dict[str, Any]]], own: list[list[dict[str, Any]]], today: bool
) -> bool:
    """Rules (a), (b) and (f); `own`: eager's runs among those that make the budget."""
    name = one["output"]
    error, off, most = (worst(runs, key)[name] for key in ("error", "off", "max_error"))
    if not today:
        return (
            one["error"] > 2 * error + FLOOR + UNIT or one["max_error"] > 4 * most + (FLOOR + UNIT) * one["max_truth"]
        )
    if error > ILL:
        wide = spread(own, name, "off")
        return one["off"] > 2 * wide * off or one["max_error"] > 2 * max(2, wide) * most
    wide = spread(own, name, "error")
    if one["error"] > 2 * wide * error + FLOOR + UNIT:
        return True
    if one["max_error"] > 2 * max(2, wide) * most + (FLOOR + UNIT) * one["max_truth"]:
        return True
    return any(too_many(one, runs, part) for part in one["tails"])


def too_many(one: dict[str, Any], runs: list[list[dict[str, Any]]], part: str) -> bool:
    eager = [other["tails"][part] for run in runs for other in run if other["output"] == one["output"]]
    of, *beyond = one["tails"][part]
    if part == "rows" and one["tails"].get("elements", [0])[0] >= 4 * of:
        of = 0
    for step in range(STEPS - 1):
        mean = torch.tensor(of * 2.0**-20 * 4.0**step, dtype=torch.float64)
        most = 0
        while float(torch.special.gammainc(torch.tensor(most + 1.0, dtype=torch.float64), mean)) > 1e-4:
            most += 1
        if beyond[step] > 4 * max(counts[step + 2] for counts in eager) + most:
            return True
    return False


def within_reason(runs: list[list[dict[str, Any]]], others: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """As src/eval/rules.cpp has it: errors of `others` count up to so many times those of `runs`, and tails beyond that do not."""
    found = []
    for one in (one for run in others for one in run if one["kind"] == "float"):
        own = worst(runs, "error")[one["output"]]
        most = min(MOST_WIDER * max(own, UNIT), own * MOST_WIDER if own > 1 else max(own, ILL))
        if (one["error"] or 0) > most:
            held = {key: one[key] * most / one["error"] for key in ("error", "off", "max_error")}
            one = one | held | {"tails": {part: [0] * (STEPS + 1) for part in one["tails"]}}
        found.append([one])
    return found


def room(referee: Referee, kind: str, index: int) -> list[list[dict[str, Any]]]:
    """What a draw is allowed: what eager errs on five of its kind, or on five of the task's and on the draw itself, and what is beside."""
    name = f"{kind}-{index}"
    errors = referee.budgets.of_kind("task" if kind == "timed" else kind)
    runs, places = [*errors.allowed], []
    if kind == "timed":
        runs += referee.budgets.of_draw(referee.draw(name)).allowed
    else:
        places = [referee.budgets.beside(name).get("of_draw", {})]
    for beside in [errors.beside, *places]:
        runs += beside.get("half-ulp", [])
        runs += within_reason(runs, beside.get("order-of-sums", []))
    return runs


def candidates(referee: Referee, kind: str) -> Iterator[tuple[int, list[list[dict[str, Any]]]]]:
    for index in range(DRAWS if kind == "timed" else SEEDS):
        draw = referee.draw(f"{kind}-{index}")
        kept, summation._loop = summation._loop, any_order
        try:
            with AnyOrder():
                run = referee.reference.run_eager(draw.arguments, draw.state, draw.seed, len(draw.eager.calls))
        finally:
            summation._loop = kept
        yield index, compare_calls(draw, run.calls, run.after)


def main() -> None:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    kind = sys.argv[2] if len(sys.argv) > 2 else "timed"
    torch.set_grad_enabled(False)
    print(f"{'module':42} {'calls':>6} {'twice the worst':>16} {'today':>8}")
    for module in MODULES:
        calls, before, today = 0, 0, 0
        for session in range(1, sessions + 1):
            with tempfile.TemporaryDirectory() as folder:
                referee = opened(module, session, Path(folder))
                errors = referee.budgets.of_kind("task" if kind == "timed" else kind)
                for index, runs in candidates(referee, kind):
                    allowed = room(referee, kind, index)
                    calls += 1
                    found = [one for run in runs for one in run if one["kind"] == "float"]
                    half_ulp = errors.beside["half-ulp"]
                    before += any(refused(one, errors.allowed + half_ulp, errors.eager, today=False) for one in found)
                    today += any(refused(one, allowed, errors.eager, today=True) for one in found)
        print(f"{module:42} {calls:6} {before / calls:16.2%} {today / calls:8.2%}", flush=True)


if __name__ == "__main__":
    main()
