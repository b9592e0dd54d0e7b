"""`mtmc bench` from end to end on the null target: rows, resumption, a task that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_ray import install_ray

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
pytestmark = pytest.mark.usefixtures("warm_python")

TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x * 2) + 1


def get_inputs():
    return [torch.randn(64, 64)]
"""


def bench(root: Path, *words: str, out: str = "out") -> subprocess.CompletedProcess[str]:
    argv = [
        str(BINARY),
        "bench",
        *words,
        "--root",
        str(root),
        "--out",
        str(root / out),
    ]
    argv += [] if "--store" in words else ["--store", str(root / "s.db")]
    argv += ["--target", "null", "--evaluations", "3"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)


def rows(root: Path) -> list[dict]:
    return [json.loads(line) for line in (root / "out/rows.jsonl").read_text().splitlines()]


def test_a_suite_is_done_task_by_task_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(TASK)
    (tmp_path / "two.py").write_text(TASK.replace("return torch.relu", "return undefined_name"))
    (tmp_path / "three.py").write_text(TASK.replace("+ 1", "+ 3"))
    listed = bench(tmp_path, "files", "--list")
    assert listed.stdout.split() == ["one", "three", "two"]

    first = bench(tmp_path, "files", "--tasks", "one")
    assert first.returncode == 0, first.stdout + first.stderr
    (row,) = rows(tmp_path)
    assert (row["suite"], row["task"], row["error"], row["target"]) == ("files", "one", None, "null")
    assert row == {
        **json.loads((tmp_path / "out/one/result.json").read_text()),
        "suite": "files",
        "error": None,
        "from_store": False,
    }
    assert (tmp_path / "out/one/kernel.py").exists() and (tmp_path / "out/one/report.html").exists()

    whole = bench(tmp_path, "files")
    assert whole.returncode == 1, "one task failed"
    assert "one: " in whole.stdout and "(remembered)" in whole.stdout
    by_task = {row["task"]: row for row in rows(tmp_path)}
    assert len(rows(tmp_path)) == len(by_task) == 3, "nothing was done twice"
    assert "undefined_name" in by_task["two"]["error"]
    assert by_task["three"]["answer"] in ("faster", "not-faster", "unclear", "at-roofline")

    (tmp_path / "two.py").write_text(TASK.replace("+ 1", "+ 2"))
    mended = bench(tmp_path, "files")
    assert mended.returncode == 0, "what failed is tried again: " + mended.stdout
    assert [row["task"] for row in rows(tmp_path)] == ["one", "three", "two", "two"]
    table, pictures = (tmp_path / "out/summary.md").read_text().split("\n\n", 1)
    for name in ("speedups.svg", "seconds.svg"):
        assert name in pictures and (tmp_path / "out" / name).read_text().startswith("<svg")
    assert table.startswith("| | all |") and "| tasks | 3 |\n| failed | 0 |" in table and table in mended.stdout


def test_finished_searches_are_taken_from_the_store(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    (tasks / "one.py").write_text("import helper\n" + TASK.replace("+ 1", "+ helper.ONE"))
    (tasks / "helper.py").write_text("ONE = 1\n")
    made: list[dict] = []

    def from_store(*words: str) -> bool:
        out, store = f"out{len(made)}", str(tmp_path / "s.db")
        done = bench(tasks, "files", "--tasks", "one", "--store", store, "--from-store", *words, out=out)
        assert done.returncode == 0, done.stdout + done.stderr
        (line,) = (tasks / out / "rows.jsonl").read_text().splitlines()
        row = json.loads(line)
        made.append(row)
        found = row.pop("from_store")
        assert ("(from the store)" in done.stdout) == found
        assert (tasks / out / "one/kernel.py").exists()
        return bool(found)

    assert not from_store() and from_store(), "what mtmc writes below changes nothing"
    assert made[0] == made[1]
    assert from_store("--jobs", "2")
    assert not from_store("--seed", "1") and not from_store("--time", "99")
    (tasks / "helper.py").write_text("ONE = 2\n")
    assert not from_store() and from_store()
    (tasks / "one.py").write_text(TASK)
    assert not from_store() and from_store()
    (tasks / "gone.py").symlink_to(tmp_path / "nowhere")
    (tasks / "again").symlink_to(tasks)
    assert not from_store() and not from_store(), "what cannot be told is searched"
    assert bench(tasks, "tritonbench", "--from-store").returncode == 2


def test_without_asking_a_search_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(TASK)
    for out in ("a", "b"):
        assert bench(tmp_path, "files", out=out).returncode == 0
        (line,) = (tmp_path / out / "rows.jsonl").read_text().splitlines()
        assert json.loads(line)["from_store"] is False


def test_levels_and_numbers_choose_tasks(tmp_path: Path) -> None:
    for level, names in ((1, ("1_a", "2_b", "10_c")), (2, ("2_d", "3_e"))):
        folder = tmp_path / "KernelBench" / f"level{level}"
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.py").write_text(TASK)
    for words, wanted in (
        (("--level", "2"), "level2/2_d level2/3_e"),
        (("--tasks", "2-10"), "level1/2_b level1/10_c level2/2_d level2/3_e"),
        (("--level", "1,2", "--tasks", "1,3"), "level1/1_a level2/3_e"),
        (("--level", "2,1"), "level2/2_d level2/3_e level1/1_a level1/2_b level1/10_c"),
        (("--level", "1", "--tasks", "*_b", "10"), "level1/2_b level1/10_c"),
    ):
        assert bench(tmp_path, "kernelbench", "--list", *words).stdout.split() == wanted.split()


def test_two_runs_are_compared(tmp_path: Path) -> None:
    row = {"suite": "s", "task": "a", "error": None, "certified": True, "speedup": {"eager": 2.0}}
    row["speedup_interval"] = {"eager": {"low": 1.8, "high": 2.2}}
    better = {**row, "speedup": {"eager": 4.0}, "speedup_interval": {"eager": {"low": 3.5, "high": 4.5}}}
    for name, one in (("before", row), ("after", better)):
        (tmp_path / name).write_text(json.dumps(one) + "\n")
    done = bench(tmp_path, "--compare", str(tmp_path / "before"), str(tmp_path / "after"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split() == "faster a: 2.00x -> 4.00x (2.00 times)".split()
    assert "1 faster, 0 alike within their intervals" in done.stdout
    assert "2.000 times as fast over eager as before (geometric mean of 1)" in done.stdout


def test_ways_to_search_stand_beside_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(TASK)
    ways = ["--ways", "greedy/rollout", "random/evolve/paper"]
    done = bench(tmp_path, "ablation", *ways, "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    table = (tmp_path / "out/ablation.md").read_text()
    assert table in done.stdout and (tmp_path / "out/ablation.svg").read_text().startswith("<svg")
    actions = {}
    for way, folder in (("greedy/rollout", "greedy-rollout"), ("random/evolve/paper", "random-evolve-paper")):
        assert f"| `{way}` | 2 | 100 % |" in table
        found = [json.loads(line) for line in (tmp_path / "out" / folder / "rows.jsonl").read_text().splitlines()]
        assert [row["task"] for row in sorted(found, key=lambda row: row["task"])] == ["a", "b"]
        actions[way] = {(row["options"]["policy"], row["options"]["actions"]) for row in found}
    assert actions == {"greedy/rollout": {("greedy", "all")}, "random/evolve/paper": {("random", "paper")}}
    wrong = bench(tmp_path, "ablation", "--ways", "greedy")
    assert wrong.returncode == 2 and "wanted POLICY/STRATEGY" in wrong.stderr


def test_mistakes_are_told(tmp_path: Path) -> None:
    for words, wanted in (
        (
            ("suit",),
            "choosing a suite: there is no such one: got 'suit', wanted files, kernelbench, matmuls, tritonbench",
        ),
        (("files",), "no task file in this folder"),
        (("kernelbench",), "wanted a checkout of github.com/ScalingIntelligence/KernelBench"),
    ):
        done = bench(tmp_path, *words)
        assert done.returncode == 2, done.stdout
        assert wanted in done.stderr
    (tmp_path / "one.py").write_text(TASK)
    for words, wanted in (
        (("files", "--tasks", "o?"), "choosing tasks: the suite has no such task: got 'o?'"),
        (("files", "--level", "1,2"), "choosing tasks: the suite has no such task: got '1 2'"),
        (("files", "--compare", "one"), "comparing two runs: not two files: got one, wanted --compare BEFORE"),
        (
            ("files", "--policy", "oracle"),
            "choosing a policy: there is no such one: got 'oracle', wanted chat, greedy, lm:MODEL[+ADAPTER], random",
        ),
        (("files", "--coder", "builtin:x"), "choosing a coder: builtin takes no argument: got 'builtin:x'"),
    ):
        done = bench(tmp_path, *words)
        assert done.returncode == 2, done.stdout
        assert wanted in done.stderr


def test_tasks_beside_each_other_get_the_rows_of_one_after_the_other(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text(TASK)
    (tmp_path / "d.py").write_text(TASK.replace("return torch.relu", "return undefined_name"))
    done = bench(tmp_path, "files", "--jobs", "2")
    assert done.returncode == 1, done.stdout + done.stderr
    by_task = {row["task"]: row for row in rows(tmp_path)}
    assert sorted(by_task) == ["a", "b", "c", "d"] and len(rows(tmp_path)) == 4
    assert [name for name, row in by_task.items() if row["error"]] == ["d"]
    assert (tmp_path / "out/b/kernel.py").exists() and "| failed | 1 |" in (tmp_path / "out/summary.md").read_text()
    again = bench(tmp_path, "files", "--jobs", "2")
    assert again.stdout.count("(remembered)") == 3 and again.returncode == 1
    refused = bench(tmp_path, "files", "--jobs", "1000000")
    assert refused.returncode == 2 and "tasks run beside each other: too many" in refused.stderr
    broken = bench(tmp_path, "files", "--jobs", "2", "--policy", "oracle", "--tasks", "d")
    assert broken.returncode == 2 and "there is no such one: got 'oracle'" in broken.stderr


# What mtmc.crew.remote calls of Ray, in one process.
def test_tasks_go_to_the_workers_of_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_ray(tmp_path, monkeypatch)
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(TASK)
    done = bench(tmp_path, "files", "--ray", "cluster")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [row["task"] for row in rows(tmp_path)] == ["a", "b"] and (tmp_path / "out/b/kernel.py").exists()
    other = bench(tmp_path, "files", "--ray", "elsewhere", "--out", str(tmp_path / "out2"))
    assert other.returncode == 2 and "no cluster answers: got 'elsewhere': nobody there" in other.stderr
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    without = bench(tmp_path, "files", "--ray", "cluster", "--out", str(tmp_path / "out3"))
    assert without.returncode == 2 and "wanted `pip install ray`" in without.stderr
