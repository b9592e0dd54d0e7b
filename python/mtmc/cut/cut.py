"""Subgraphs of real models: python -m mtmc.cut.cut REQUEST.json REPORT.json

REQUEST: {"graphnet": a checkout of PaddlePaddle/GraphNet, "out": folder, "seed", "count", "large": bool, "graphs" and
"syntax": {hash: file} of what no task may be}. Writes OUT/graphnet_0000.py and so on; each is a task file whose docstring
names the sample, its statements and the checkout's commit. Every one ran in eager with finite results, and was traced.
REPORT: {"written": [[file, sample]], "left_out": [[sample, file, by]], "refused": {why: count}, "samples": how many were
tried}.
"""

from __future__ import annotations

import collections
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from mtmc.cut.sample import read_sample
from mtmc.cut.subgraph import Cut, NoCut, cut
from mtmc.scan.scan import fingerprint
from mtmc.scan.syntax import file_hash
from mtmc.task.task import load_task
from mtmc.trace.trace import trace
from mtmc.wire.by_name import by_place
from mtmc.wire.report import report

TRIES = 6  # windows of one sample, until one is a task
LARGEST_FILE = 2 << 20  # bytes of a sample's code: the largest take minutes to run on nothing


def commit_of(folder: Path) -> str:
    done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def try_out(path: Path) -> None:
    """Runs and traces a task. NoCut where it does not run, or has no finite result."""
    task = load_task({"name": path.stem, "file": str(path), "attr": "Model"})
    try:
        with torch.no_grad():
            outputs = tree_leaves(by_place(task.make_model(0), task.by_name)(*task.make_inputs(1)))
        floats = [one for one in outputs if isinstance(one, torch.Tensor) and one.is_floating_point()]
        if not floats or not all(torch.isfinite(one).all() for one in floats):
            raise NoCut("no finite result")
        if all(one.numel() == 0 or float(one.std()) == 0 for one in floats if one.numel() > 1):
            raise NoCut("a constant result")
        trace(task)
    except NoCut:
        raise
    except Exception as error:
        raise NoCut(f"{type(error).__name__}") from error


class Cutter:
    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.root = Path(request["graphnet"])
        self.commit = commit_of(self.root)[:12]
        self.rng = random.Random(request["seed"])
        self.seen: set[str] = set()
        self.written: list[tuple[str, str]] = []
        self.left_out: list[tuple[str, str, str]] = []
        self.refused: collections.Counter[str] = collections.Counter()
        self.samples = 0

    def header(self, made: Cut) -> str:
        return (
            f'"""Cut from GraphNet (MIT licence), commit {self.commit}:\n'
            f'samples/{made.sample}/model.py, statements {made.first + 1} to {made.last + 1}."""\n\n'
        )

    def known(self, text: str, path: Path) -> str:
        """What is refused for being known already."""
        path.write_text(text)
        if (own := file_hash(text)) in self.seen:
            return "cut already"
        found = fingerprint(path)
        for by, hashes in (("operators", found["graphs"]), ("syntax", found["syntax"])):
            others = self.request["graphs" if by == "operators" else "syntax"]
            for one in hashes:
                if one in others:
                    self.left_out.append((path.stem, others[one], by))
                    return "among the others"
        self.seen.add(own)
        return ""

    def one_of(self, folder: Path, scratch: Path) -> str | None:
        """The text of a task cut from a sample, if one of a few tries is good."""
        if (folder / "model.py").stat().st_size > LARGEST_FILE:
            return None
        sample = read_sample(folder, self.root / "samples")
        if sample is None or not sample.statements:
            self.refused["the sample cannot be read"] += 1
            return None
        for attempt in range(TRIES):
            try:
                made = cut(sample, self.rng, self.request["large"])
                path = scratch / f"try_{self.samples}_{attempt}.py"
                path.write_text(made.small)
                try_out(path)
            except NoCut as error:
                self.refused[str(error)] += 1
                continue
            text = self.header(made) + made.text
            if why := self.known(text, scratch / f"cut_{self.samples}_{attempt}.py"):
                self.refused[why] += 1
                continue
            return text
        return None

    def run(self) -> dict[str, Any]:
        out = Path(self.request["out"])
        out.mkdir(parents=True, exist_ok=True)
        folders = sorted(path.parent for path in (self.root / "samples").rglob("model.py"))
        self.rng.shuffle(folders)
        with tempfile.TemporaryDirectory() as scratch:
            for folder in folders:
                if len(self.written) == self.request["count"]:
                    break
                self.samples += 1
                if text := self.one_of(folder, Path(scratch)):
                    path = out / f"graphnet_{len(self.written):04}.py"
                    path.write_text(text)
                    self.written.append((str(path), str(folder.relative_to(self.root / "samples"))))
        return {
            "written": self.written, "left_out": self.left_out, "refused": dict(self.refused), "samples": self.samples,
        }  # fmt: skip


def main(argv: list[str]) -> int:
    return report(argv, "mtmc.cut.cut", lambda request: Cutter(request).run())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
