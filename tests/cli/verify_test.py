"""`mtmc verify` from end to end: options that change the verdict, baselines, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable


def printed(task: str, candidate: str, *words: str) -> tuple[int, str]:
    argv = [str(BINARY), "verify", str(ROOT / task), str(ROOT / candidate), "--tier", "screen", "--json", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, done.stdout


def verify(task: str, candidate: str, *words: str) -> tuple[int, dict]:
    code, text = printed(task, candidate, *words)
    return code, json.loads(text)


@pytest.fixture(scope="module")
def judged_list(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict], list[dict]]:
    """What was asked, and what was found."""
    task, kernel = str(ROOT / "tests/tasks/softmax.py"), str(ROOT / "tests/honest/softmax_online.py")
    rows = [
        {"file": task, "candidate": kernel, "seed": 8},
        {"file": str(ROOT / "nothing.py"), "candidate": kernel},
        {"file": str(ROOT / "tests/tasks/gated.py"), "candidate": str(ROOT / "tests/exploits/half_output.py")},
    ]
    listed = tmp_path_factory.mktemp("lists") / "list.jsonl"
    listed.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["verify", "--list", str(listed), "--tier", "screen", "--threads", "1"]
    done = subprocess.run([str(BINARY), *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stderr
    return rows, [json.loads(line) for line in done.stdout.splitlines()]


def test_a_verdict_is_repeated_under_seeds_that_follow(judged_list: tuple[list[dict], list[dict]]) -> None:
    files = ("tests/tasks/softmax.py", "tests/honest/softmax_online.py", "--threads", "1")
    code, text = printed(*files, "--seed", "7", "--repeat", "2")
    first, second = (json.loads(line) for line in text.splitlines())
    assert code == 0, text
    alone = judged_list[1][0]  # under the seed 8
    assert first["errors"][0] != second["errors"][0] == alone["errors"][0]


def test_a_syntax_error_names_the_users_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import torch\ndef forward(:\n")
    code, verdict = verify("tests/tasks/softmax.py", str(tmp_path / "mine.py"))
    assert code == 1 and verdict["message"].endswith("(mine.py, line 2)"), verdict


def test_tf32_is_refused_unless_it_is_allowed() -> None:
    code, verdict = verify("tests/tasks/matmul.py", "tests/honest/matmul_tf32.py")
    assert (code, verdict["reason"]) == (1, "precision"), verdict["message"]
    code, verdict = verify(
        "tests/tasks/matmul.py", "tests/honest/matmul_tf32.py", "--accuracy", "tf32", "--baselines", "compile"
    )
    assert (code, verdict["accuracy_class"]) == (0, "tf32"), verdict["message"]
    assert verdict["evaluator"].endswith("accuracy tf32")
    assert len(verdict["times"]["compile"]["samples_ms"]) == len(verdict["times"]["candidate"]["samples_ms"])
    assert verdict["speedup"]["compile"] > 0


def test_a_list_is_judged_with_one_judge_and_a_bad_line_stops_nothing(
    judged_list: tuple[list[dict], list[dict]],
) -> None:
    rows, found = judged_list
    assert [row["candidate"] for row in found] == [row["candidate"] for row in rows]
    assert found[0]["certified"] and found[0]["tier"] == "screen"
    assert "no such file" in found[1]["error"]
    assert found[2]["reason"] == "wrong-dtype"
