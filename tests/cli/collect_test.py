"""`mtmc collect` and `mtmc dataset` from end to end on the null target: generated tasks, explored, resumed, exported."""

from __future__ import annotations

import json
import lzma
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from fake_ray import install_ray

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
pytestmark = pytest.mark.usefixtures("warm_python")


def mtmc(*words: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [str(BINARY), *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)


def test_tasks_are_explored_once_and_become_a_dataset(tmp_path: Path) -> None:
    tasks, store, dataset = tmp_path / "tasks", tmp_path / "s.db", tmp_path / "d.jsonl"
    assert mtmc("tasks", "--kind", "operator", "--size", "small", "--count", "2", "--out", tasks).returncode == 0
    (tasks / "broken.py").write_text("class Model(torch.nn.Module): ...\n")
    words = ["collect", "--root", tasks, "--target", "null", "--store", store, "--evaluations", "4"]
    words += ["--ways", "random/rollout", "greedy/tree"]

    spent = mtmc(*words, "--hardware", "a100", "--budget", "0.001")
    assert "the same command goes on with" in spent.stdout
    first = mtmc(*words, "--hardware", "a100")
    assert first.returncode == 1  # the broken one
    assert "broken: failed: loading broken" in first.stdout
    again = mtmc(*words, "--hardware", "a100")
    assert "0 explorations, 0 candidates judged, 4 explored before, 1 failed" in again.stdout
    elsewhere = mtmc(*words, "--hardware", "v100", "--jobs", "2")
    assert "broken: failed: loading broken" in elsewhere.stdout
    assert "4 explorations" in elsewhere.stdout and "0 explored before, 1 failed" in elsewhere.stdout
    beside = mtmc(*words, "--hardware", "a100", "--jobs", "2")
    assert "0 explorations, 0 candidates judged, 4 explored before, 1 failed" in beside.stdout

    exported = mtmc("dataset", "export", dataset, "--store", store)
    assert exported.returncode == 0, exported.stderr
    lines = [json.loads(line) for line in dataset.read_text().splitlines()]
    assert lines[0] == {"format": "mtmc-trees-3", "trees": 4}
    assert {tree["hardware"].split(":")[0] for tree in lines[1:]} == {
        "NVIDIA A100 (facts only)",
        "NVIDIA V100 (facts only)",
    }
    half, other, whole = (tmp_path / name for name in ("half.jsonl", "other.jsonl", "whole.jsonl"))
    for part, trees in ((half, lines[1:3]), (other, lines[3:])):
        part.write_text("\n".join(map(json.dumps, [{"format": "mtmc-trees-3", "trees": 2}, *trees])) + "\n")
    joined = mtmc("dataset", "join", whole, "--from", half, other)
    assert joined.stdout == exported.stdout, joined.stderr
    assert [json.loads(line) for line in whole.read_text().splitlines()] == lines
    twice = mtmc("dataset", "join", whole, "--from", half, other, half)
    assert twice.returncode == 2 and "is in two of them" in twice.stderr

    described = mtmc("dataset", "describe", dataset)
    assert described.stdout == exported.stdout and described.stdout.startswith("4 tasks, ")


def test_a_cluster_explores_into_the_store_of_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, store, dataset = tmp_path / "tasks", tmp_path / "s.db", tmp_path / "d.jsonl"
    assert mtmc("tasks", "--kind", "operator", "--size", "small", "--count", "2", "--out", tasks).returncode == 0
    words = ["collect", "--root", tasks, "--target", "null", "--hardware", "h100", "--evaluations", "4"]
    words += ["--ways", "random/rollout", "greedy/tree"]
    here = mtmc(*words, "--store", tmp_path / "here.db")
    install_ray(tmp_path, monkeypatch)
    monkeypatch.setenv("MTMC_STORE", str(tmp_path / "nobody.db"))
    words += ["--ray", "cluster", "--store", store]
    first = mtmc(*words)
    assert first.returncode == 0 and "4 explorations" in first.stdout, first.stdout + first.stderr
    again = mtmc(*words)
    assert "0 explorations, 0 candidates judged, 4 explored before, 0 failed" in again.stdout
    (tasks / "broken.py").write_text("class Model(torch.nn.Module): ...\n")
    broken = mtmc(*words)
    assert "broken: failed: loading broken" in broken.stdout and "4 explored before, 1 failed" in broken.stdout
    assert not (tmp_path / "nobody.db").exists()
    there = mtmc("dataset", "export", dataset, "--store", store)
    assert there.stdout == mtmc("dataset", "export", dataset, "--store", tmp_path / "here.db").stdout != "", here.stdout
    (tasks / "broken.py").unlink()
    at = words.index("greedy/tree") + 1
    more = mtmc(*words[:at], "greedy/beam", *words[at:])
    assert "2 explorations" in more.stdout and "4 explored before" in more.stdout, "only the way that is new"


def test_what_is_shipped_can_be_read(tmp_path: Path) -> None:
    shipped = sorted((ROOT / "datasets").glob("*.jsonl.xz"))
    assert [file.name for file in shipped] == ["h100.faulty.jsonl.xz", "h100.heldout.jsonl.xz", "h100.jsonl.xz"]
    for file in shipped:
        with lzma.open(file, "rt") as lines:
            assert json.loads(next(lines))["format"] == "mtmc-trees-3"
    heldout = tmp_path / "heldout.jsonl"
    heldout.write_bytes(lzma.decompress(shipped[1].read_bytes()))
    said = mtmc("dataset", "describe", heldout).stdout
    assert said.startswith("63 tasks, 3589 states")
    with (ROOT / "datasets" / "h100.tasks.tsv").open() as rows:
        states = [int(row.split("\t")[2]) for row in rows if "\theld out\t" in row]
    assert sum(states) == 3589 and sum(count > 0 for count in states) == 63


def test_mistakes_are_told(tmp_path: Path) -> None:
    assert "POLICY/STRATEGY" in mtmc("collect", "--root", tmp_path, "--ways", "random").stderr
    task = ROOT / "examples" / "gelu_mlp.py"
    done = mtmc("optimize", task, "--target", "null", "--hardware", "h300", "--out", tmp_path / "out")
    assert done.returncode == 2 and "no such profile" in done.stderr and "a100, h100, h200, v100" in done.stderr
    done = mtmc("optimize", task, "--target", "cpu", "--hardware", "h100", "--out", tmp_path / "out")
    assert done.returncode == 2 and "the target cpu does not run there" in done.stderr
    (tmp_path / "d.jsonl").write_text('{"format": "mtmc-trees-0", "trees": 0}\n')
    done = mtmc("dataset", "describe", tmp_path / "d.jsonl")
    assert done.returncode == 2 and "another format" in done.stderr and "mtmc-trees-3" in done.stderr


def test_what_is_tried_here_is_measured_here(tmp_path: Path) -> None:
    tasks, store = tmp_path / "tasks", tmp_path / "s.db"
    assert mtmc("tasks", "--kind", "operator", "--size", "small", "--count", "1", "--out", tasks).returncode == 0
    words = ["collect", "--root", tasks, "--target", "cpu", "--store", store, "--evaluations", "2"]
    words += ["--ways", "greedy/rollout"]
    done = mtmc(*words)
    assert done.returncode == 0, done.stderr
    assert "1 explorations, " in done.stdout and "0 failed" in done.stdout
    with closing(sqlite3.connect(store)) as kept:
        told = kept.execute("SELECT evaluator, tier, time_ms FROM verdicts").fetchall()
    assert told and all(row[:2] == ("trusting judge 1, briefly", "screen") for row in told)
    assert all(time_ms is None or time_ms > 0 for _, _, time_ms in told) and any(time_ms for _, _, time_ms in told)

    refused = mtmc(*words, "--coder", "llm", "--judge", "trusting")
    assert refused.returncode == 2
    assert "one that trusts would run what others write: got llm, wanted builtin or faulty" in refused.stderr
