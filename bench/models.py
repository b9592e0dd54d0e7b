#!/usr/bin/env python3
"""The untouched program of models that nobody here wrote: is it traced, certified on every seed, and as fast as eager?

  bench/models.py [--size small|real] [--device cpu|cuda] [--screens 10] [--certifications 3] [--only NAME...]

Fetches transformers, timm and torchvision as wheels into an environment of its own below --cache (the torch in it is the
one of MTMC_PYTHON, or of this Python); --wheels FOLDER installs from a folder of wheels without a network. Then each model of
bench/models/catalogue.py is written as a task file, traced, printed as it is, and judged under seeds 1, 2, ... as
`mtmc verify` does. One line of JSON a model is appended to --out as soon as it is known; a model that stands there already
is not judged again (--again does), and one that fails never stops the rest. Exit code 1 when anything was refused.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench" / "models"))
from catalogue import MODELS  # noqa: E402

PACKAGES = ("transformers", "timm")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
LEAST = 0.97  # of eager's speed
# torchvision's compiled operators need the CUDA libraries it was built for. Its models call none of them, but it does not
# import before their names are known.
DECLARED = """
for name in () if torchvision.extension._has_ops() else ("nms", "qnms"):
    torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def output(*command: object) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout.strip()


# The environment ----------------------------------------------------------------------------------------------------


def environment(cache: Path, wheels: Path | None) -> Path:
    """The Python that has the packages. Made once: a virtual environment that sees the packages of the Python given."""
    user = os.environ.get("MTMC_PYTHON", sys.executable)
    folder = cache / "env"
    python = folder / "bin" / "python"
    if (folder / "complete").exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    print(f"making {folder}", file=sys.stderr)
    output(user, "-m", "venv", folder)
    where = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = Path(output(python, "-c", where))
    (site / "users.pth").write_text(output(user, "-c", where) + "\n")
    version = output(user, "-c", "import torch; print(torch.__version__)").split("+")[0].split(".")
    needed = [*PACKAGES, f"torchvision==0.{int(version[1]) + 15}.*"]  # 0.28 is for torch 2.13
    source = ["--no-index", "--find-links", wheels.resolve()] if wheels else ["--only-binary=:all:"]
    subprocess.run([str(w) for w in (python, "-m", "pip", "install", "-qq", *source, *needed)], check=True)
    late = site / "torchvision" / "_meta_registrations.py"
    if late.exists():  # else the user's own, which fits
        text = late.read_text()
        mark = "import torchvision.extension  # noqa: F401\n"
        if text.count(mark) != 1:
            raise SystemExit(f"{late} is not as expected: cannot declare the operators that have no compiled form")
        late.write_text(text.replace(mark, mark + DECLARED))
    subprocess.run([python, "-c", "import transformers, timm, torchvision"], check=True)
    (folder / "complete").touch()
    return python


# Judging ------------------------------------------------------------------------------------------------------------


class Bench:
    def __init__(self, args: argparse.Namespace, python: Path) -> None:
        self.args = args
        self.work = args.cache / f"{args.size}-{args.device}"
        self.environment = {**os.environ, **OFFLINE, "MTMC_PYTHON": str(python)}
        self.environment["PYTHONPATH"] = str(ROOT / "python")

    def mtmc(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [str(self.args.mtmc), *map(str, words)]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=self.args.patience, check=False
        )

    def trace(self, name: str) -> tuple[Path, Path, str, float]:
        """Task file, printed module, why there is none, and the seconds that took."""
        folder = self.work / name
        folder.mkdir(parents=True, exist_ok=True)
        task, kernel = folder / f"{name}.py", folder / "kernel.py"
        task.write_text(MODELS[name].source(name, self.args.size))
        kernel.unlink(missing_ok=True)
        start = time.monotonic()
        target = "triton" if self.args.device == "cuda" else "cpu"
        done = self.mtmc("apply", task, "--target", target, "--write", kernel, "--brief")
        (folder / "program.txt").write_text(done.stdout)
        why = "" if done.returncode == 0 else last_line(done.stderr) or f"exit code {done.returncode}"
        return task, kernel, why, time.monotonic() - start

    def verdicts(self, task: Path, kernel: Path, tier: str, seed: int, count: int) -> list[dict[str, Any]]:
        """As JSON, of one judge, under `seed` and those that follow; in the place of what is missing one with the reason `judge`."""
        if count == 0:
            return []
        words = ["--tier", tier, "--seed", seed, "--repeat", count, "--device", self.args.device, "--json"]
        if self.args.jobs > 1:
            words += ["--threads", max(1, len(os.sched_getaffinity(0)) // self.args.jobs)]
        try:
            done = self.mtmc("verify", task, kernel, *words)
            printed, why = done.stdout, last_line(done.stderr) or f"exit code {done.returncode}"
        except subprocess.TimeoutExpired as late:
            printed, why = str(late.stdout or b"", "utf8"), f"no more verdicts in {self.args.patience:.0f} s"
            printed = printed[: printed.rfind("\n") + 1]  # whole lines
        lines = [printed] if count == 1 else printed.splitlines()
        found = [json.loads(line) for line in lines if line.strip()]
        return found + [{"certified": False, "reason": "judge", "message": why}] * (count - len(found))

    def judge(self, name: str) -> dict[str, Any]:
        row: dict[str, Any] = {"model": name, "size": self.args.size, "device": self.args.device, "traced": False}
        try:
            task, kernel, why, seconds = self.trace(name)
        except subprocess.TimeoutExpired:
            return row | {"refusals": [f"trace: not in {self.args.patience:.0f} s"]}
        row |= {"traced": not why, "trace_s": round(seconds, 1)}
        if why:
            return row | {"refusals": [f"trace: {why}"]}
        screens = self.verdicts(task, kernel, "screen", 1, self.args.screens)
        certify = self.verdicts(task, kernel, "certify", 101, self.args.certifications)
        timed = [v for v in certify or screens if "eager" in v.get("speedup", {})]
        refused = sorted({f"{v['reason']}: {v['message']}" for v in screens + certify if not v["certified"]})
        return row | {
            "screens": [sum(v["certified"] for v in screens), len(screens)],
            "certifications": [sum(v["certified"] for v in certify), len(certify)],
            "refusals": refused,
            "over_eager": speed(timed) if timed else None,
            "seconds": round(sum(v.get("seconds", 0.0) for v in screens + certify), 1),
        }


def speed(verdicts: list[dict[str, Any]]) -> list[float]:
    """Low end, median and high end over eager: the median verdict's of each. No high end is 1e9: JSON has no infinity."""
    ends = ("speedup_low", "speedup", "speedup_high")
    return [round(statistics.median(v[end]["eager"] or 1e9 for v in verdicts), 3) for end in ends]


def last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


# Printing -----------------------------------------------------------------------------------------------------------


def known(out: Path) -> dict[str, dict[str, Any]]:
    rows = map(json.loads, out.read_text().splitlines()) if out.exists() else ()
    return {row["model"]: row for row in rows}


def passes(row: dict[str, Any]) -> bool:
    return row["traced"] and not row["refusals"]


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "| model | traced | screens | certifications | over eager | refused for |"
    yield "| --- | --- | ---: | ---: | ---: | --- |"
    for row in rows:
        counts = ["{}/{}".format(*row[tier]) if tier in row else "" for tier in ("screens", "certifications")]
        why = "; ".join(row["refusals"]).replace("|", "\\|")
        over = "{1:.2f} ({0:.2f} to {2:.2f})".format(*row["over_eager"]) if row.get("over_eager") else ""
        cells = [row["model"], "yes" if row["traced"] else "no", *counts, over, why]
        yield "| " + " | ".join(cells) + " |"
    yield f"\n{sum(map(passes, rows))} of {len(rows)} models certified every time."
    timed = [row for row in rows if row.get("over_eager")]
    slow = [row["model"] for row in timed if row["over_eager"][2] < LEAST]
    unsure = [row["model"] for row in timed if row["over_eager"][0] < LEAST <= row["over_eager"][2]]
    yield f"Slower than {LEAST}x eager: {', '.join(slow) or 'none'}; perhaps slower: {', '.join(unsure) or 'none'}."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("small", "real"), default="small")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--screens", type=int, default=10)
    parser.add_argument("--certifications", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=sorted(MODELS), help="these models")
    parser.add_argument("--again", action="store_true", help="judge what stands in --out once more")
    parser.add_argument("--jobs", type=int, default=1, help="models beside each other: then no speed is a figure")
    parser.add_argument(
        "--patience", type=float, default=600, help="seconds for a trace, and for all verdicts of a tier"
    )
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "models")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels to install from")
    parser.add_argument("--mtmc", type=Path, default=ROOT / "build" / "release" / "mtmc")
    parser.add_argument("--out", type=Path, help="default: CACHE/SIZE-DEVICE.jsonl")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    out = args.out or args.cache / f"{args.size}-{args.device}.jsonl"
    bench = Bench(args, environment(args.cache.resolve(), args.wheels))
    names = args.only or list(MODELS)
    left = names if args.again else [name for name in names if name not in known(out)]
    with ThreadPoolExecutor(args.jobs) as pool, out.open("a") as lines:
        for done in as_completed([pool.submit(bench.judge, name) for name in left]):
            row = done.result()
            print(json.dumps(row), file=lines, flush=True)
            print(json.dumps(row), file=sys.stderr, flush=True)
    rows = [row for name, row in known(out).items() if name in names]
    print("\n".join(table(rows)))
    return 0 if all(map(passes, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
