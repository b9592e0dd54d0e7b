#!/usr/bin/env python3
"""The untouched program of models that nobody here wrote: is it traced, certified on every seed, and as fast as eager?

  bench/models.py [--size small|real] [--device cpu|cuda] [--screens 10] [--certifications 3] [--only NAME...]

Fetches transformers, timm and torchvision as wheels into an environment of its own below --cache (the torch in it is the
one of MTMC_PYTHON, or of this Python); --wheels FOLDER installs from a folder of wheels without a network. Then each model of
bench/models/catalogue.py is written as a task file, traced and printed as it is, several beside each other. All are judged
under seeds 1, 2, ... by `mtmc verify --list -`, whose processes import each library once. One line of JSON a model is
appended to --out as soon as it is known; a model that stands there already is not judged again (--again does), and one
that fails never stops the rest. Exit code 1 when anything was refused.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import select
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench" / "models"))
from catalogue import MODELS  # noqa: E402

PACKAGES = ("transformers", "timm", "torchvision")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
LEAST = 0.97  # of eager's speed
CERTIFIED_FROM = 101  # the first seed of the certifications
Row = dict[str, Any]
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
    version = output(user, "-c", "import torch; print(torch.__version__)").split("+")[0]
    (folder / "constraint.txt").write_text(f"torch=={version}\n")  # pip finds the torchvision for it
    source = ["--no-index", "--find-links", wheels.resolve()] if wheels else ["--only-binary=:all:"]
    install = (python, "-I", "-m", "pip", "install", "-qq", "-c", folder / "constraint.txt", *source, *PACKAGES)
    subprocess.run([str(word) for word in install], check=True)
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

    def files(self, name: str) -> tuple[Path, Path]:
        """Of the task and of its printed module."""
        folder = self.work / name
        return folder / f"{name}.py", folder / "kernel.py"

    def trace(self, name: str) -> Row:
        """Writes both files; the row says why there is no module."""
        task, kernel = self.files(name)
        task.parent.mkdir(parents=True, exist_ok=True)
        task.write_text(MODELS[name].source(name, self.args.size))
        kernel.unlink(missing_ok=True)
        start = time.monotonic()
        target = "triton" if self.args.device == "cuda" else "cpu"
        words = ["apply", task, "--target", target, "--write", kernel, "--brief"]
        command = [str(word) for word in (self.args.mtmc, *words)]
        row = {"model": name, "size": self.args.size, "device": self.args.device, "traced": False}
        try:
            done = subprocess.run(
                command,
                env=self.environment | {"OMP_NUM_THREADS": "2"},  # of many beside each other
                capture_output=True,
                text=True,
                timeout=self.args.patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return row | {"refusals": [f"trace: not in {self.args.patience:.0f} s"]}
        (task.parent / "program.txt").write_text(done.stdout)
        row |= {"traced": done.returncode == 0, "trace_s": round(time.monotonic() - start, 1)}
        if done.returncode != 0:
            row["refusals"] = [f"trace: {last_lines(done.stderr) or f'exit code {done.returncode}'}"]
        return row

    def wanted(self, name: str) -> list[Row]:
        """The lines of `mtmc verify --list` for a model."""
        task, kernel = self.files(name)
        both = (("screen", 1, self.args.screens), ("certify", CERTIFIED_FROM, self.args.certifications))
        one = {"file": str(task), "candidate": str(kernel)}
        return [one | {"tier": tier, "seed": seed, "repeat": count} for tier, seed, count in both if count]

    def judge(self, ready: queue.SimpleQueue[Row | None], number: int, tell: Callable[[Row], None]) -> None:
        """Judges the models whose traces come, until None comes, and tells of each. A judge that says nothing any more is started
        anew."""
        process: subprocess.Popen[bytes] | None = None
        while (row := ready.get()) is not None:
            if process is None or process.poll() is not None:
                process = self.start(number)
            assert process.stdin is not None
            process.stdin.write("".join(json.dumps(one) + "\n" for one in self.wanted(row["model"])).encode())
            found, why = self.verdicts(process)
            tell(judged(row, found + ([{"certified": False, "reason": "judge", "message": why}] if why else [])))
            if why:
                process.kill()
                process.communicate()
                process = None
        if process is not None:
            process.communicate()

    def start(self, number: int) -> subprocess.Popen[bytes]:
        command = [str(self.args.mtmc), "verify", "--list", "-", "--device", self.args.device]
        if self.args.jobs > 1:  # each has cores of its own: a judge begins its threads on the first ones
            each = max(1, len(cores()) // self.args.jobs)
            own = [cores()[(number * each + i) % len(cores())] for i in range(each)]
            command = ["taskset", "-c", ",".join(map(str, own)), *command, "--threads", str(each)]
        environment = self.environment
        if len(gpus()) > 1:  # in turn
            environment = environment | {"CUDA_VISIBLE_DEVICES": gpus()[number % len(gpus())]}
        pipe = subprocess.PIPE
        with (self.work / f"judge-{number}.log").open("a") as log:  # no buffer: select sees no lines that lie in one
            return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=log, bufsize=0)

    def verdicts(self, process: subprocess.Popen[bytes]) -> tuple[list[Row], str]:
        """All of the next model, and why some are missing."""
        found: list[Row] = []
        count = self.args.screens + self.args.certifications
        while len(found) < count:
            if not select.select([process.stdout], [], [], self.args.patience)[0]:
                return found, f"no verdict in {self.args.patience:.0f} s"
            line = process.stdout.readline()  # type: ignore[union-attr]
            if not line:
                return found, f"the judge ended with exit code {process.wait()}"
            row = json.loads(line)
            if "error" in row:
                return found, row["error"]
            found.append(row)
        return found, ""


def cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def gpus() -> list[str]:
    """As CUDA_VISIBLE_DEVICES names them."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return [name for name in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if name]
    return [str(i) for i in range(len(list(Path("/dev").glob("nvidia[0-9]*"))))]


def judged(row: Row, verdicts: list[Row]) -> Row:
    """A model's row with what its verdicts amount to."""
    screens, certify = ([v for v in verdicts if v.get("tier") == tier] for tier in ("screen", "certify"))
    timed = [v for v in certify or screens if "eager" in v.get("speedup", {})]
    return row | {
        "screens": [sum(v["certified"] for v in screens), len(screens)],
        "certifications": [sum(v["certified"] for v in certify), len(certify)],
        "refusals": sorted({f"{v['reason']}: {v['message']}" for v in verdicts if not v["certified"]}),
        "over_eager": speed(timed) if timed else None,
        "seconds": round(sum(v.get("seconds", 0.0) for v in verdicts), 1),
    }


def speed(verdicts: list[Row]) -> list[float]:
    """Low end, median and high end over eager: the median verdict's of each. No high end is 1e9: JSON has no infinity."""
    ends = ("speedup_low", "speedup", "speedup_high")
    return [round(statistics.median(v[end]["eager"] or 1e9 for v in verdicts), 3) for end in ends]


def last_lines(text: str) -> str:
    """One of a user's mistake; the last few of a fault of ours."""
    return " / ".join(text.strip().splitlines()[-6:])


# Printing -----------------------------------------------------------------------------------------------------------


def known(out: Path) -> dict[str, Row]:
    rows = map(json.loads, out.read_text().splitlines()) if out.exists() else ()
    return {row["model"]: row for row in rows}


def passes(row: Row) -> bool:
    return row["traced"] and not row["refusals"]


def table(rows: list[Row]) -> Iterator[str]:
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
    parser.add_argument("--patience", type=float, default=300, help="seconds for a trace, and for a verdict")
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
    with out.open("a") as lines:

        def write(row: Row) -> None:
            print(json.dumps(row), file=lines, flush=True)
            print(json.dumps(row), file=sys.stderr, flush=True)

        ready: queue.SimpleQueue[Row | None] = queue.SimpleQueue()
        later: list[Row] = []  # nothing is traced beside what is timed alone

        def trace(name: str) -> None:
            row = bench.trace(name)
            if not row["traced"]:
                write(row)
            elif args.jobs > 1:
                ready.put(row)
            else:
                later.append(row)

        with ThreadPoolExecutor(args.jobs) as judges, ThreadPoolExecutor(len(cores()) // 2 + 1) as tracers:
            judging = [judges.submit(bench.judge, ready, number, write) for number in range(args.jobs)]
            for done in [tracers.submit(trace, name) for name in left]:
                done.result()
            for row in [*later, *[None] * args.jobs]:
                ready.put(row)
            for done in judging:
                done.result()
    rows = [row for name, row in known(out).items() if name in names]
    print("\n".join(table(rows)))
    return 0 if all(map(passes, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
