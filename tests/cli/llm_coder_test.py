"""Coders that ask a language model, from a task to a certified kernel: a server on this machine plays the model."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_task import SMALL_TASK

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
ANSWERS = Path(__file__).parent / "answers"
KEY = "sk-secret-0a1b2c3d4e5f"


def load_server() -> Any:
    spec = importlib.util.spec_from_file_location("llm_server", ROOT / "tests/llm/server.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["llm_server"] = module
    spec.loader.exec_module(module)
    return module


class World:
    """A folder with a store, a server, and a table that says what the model costs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, ""
        self.server: Any = None

    def play(self, *plays: dict[str, Any]) -> None:
        self.server = load_server().Server(list(plays))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        model = {"name": "scripted", "url": self.server.url, "key": "SCRIPTED_KEY", "input": 1, "output": 2}
        (self.folder / "models.json").write_text(json.dumps([model]))

    def stop(self) -> None:
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def start(self, task: Path, *words: object) -> subprocess.Popen[str]:
        argv = [BINARY, "optimize", task, "--model", "scripted", "--store", self.folder / "store.db", *words]
        argv += ["--out", self.folder / "out", "--strategy", "rollout", "--time", 300]
        environment = {**os.environ, "SCRIPTED_KEY": KEY, "MTMC_MODELS": str(self.folder / "models.json")}
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([str(word) for word in argv], env=environment, text=True, **pipes)

    def end(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        out, err = process.communicate(timeout=300)
        self.said += out + err
        return process.returncode, out + err

    def optimize(self, task: Path, *words: object) -> tuple[int, str]:
        return self.end(self.start(task, *words))

    def leaks(self) -> list[str]:
        """Whatever holds the key: files of the store and the results, and what was printed."""
        files = [path for path in self.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        return [str(path) for path in files] + (["printed"] if KEY in self.said else [])

    def attempts(self) -> list[tuple[str, str, str]]:
        """(action, coder, the judge's reason) of each attempt of the last run."""
        with sqlite3.connect(self.folder / "store.db") as store:
            return store.execute(
                "SELECT action, coder, coalesce(reason, '') FROM nodes LEFT JOIN node_verdicts ON node = nodes.id AND "
                "node_verdicts.tier = 'screen' LEFT JOIN verdicts ON verdicts.id = node_verdicts.verdict "
                "WHERE run = (SELECT max(id) FROM runs) ORDER BY nodes.id"
            ).fetchall()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    (tmp_path / "small.py").write_text(SMALL_TASK)
    yield made
    made.stop()
    assert made.leaks() == []


def answer(name: str, **more: Any) -> dict[str, Any]:
    return {"answer": (ANSWERS / f"{name}.md").read_text(), **more}


def test_an_exploit_is_refused_and_repaired(world: World) -> None:
    repair = answer("distance_repair")["answer"]
    world.play(answer("distance_exploit"), {"answer": repair[:700], "finish": "length"}, {"answer": repair[700:]})
    words = (ANSWERS / "distance.py", "--coder", "llm", "--target", "cpu", "--evaluations", 2, "--baselines", "graph")
    code, said = world.optimize(*words)
    assert code == 0, said
    (start, exploit, mended) = world.attempts()
    assert exploit[0].startswith("fuse") and exploit[1] == "llm:scripted" and exploit[2] != "", exploit
    assert mended == ("repair", "llm:scripted", "")
    questions = [request["body"]["messages"] for request in world.server.requests]
    assert [len(messages) for messages in questions] == [2, 2, 4]
    assert exploit[2] in questions[1][1]["content"] and "# Verdict" in questions[1][1]["content"]
    assert "asked the language model: 3 requests, 300 + 60 tokens, $0.0004" in said
    result = json.loads((world.folder / "out/result.json").read_text())
    assert result["certified"] and result["account"]["requests"] == 3


def test_steps_lead_to_a_faster_kernel_until_the_money_is_spent(world: World) -> None:
    world.play(answer("outer_fuse", usage=[5_000_000, 1]), answer("outer_reorder", usage=[5_000_000, 1]))
    words = ("--coder", "llm", "--target", "cpu", "--max-cost", 10.005, "--baselines", "graph", "--prompt", "paper")
    code, said = world.optimize(ANSWERS / "outer.py", *words)
    assert code == 0, said
    assert len(world.server.requests) == 2
    assert "the model gave up: asking the language model: this request could pass the cost limit" in said
    assert [attempt[2] for attempt in world.attempts()] == ["", "", ""]
    assert "for (long k = 0; k < inner; ++k)\n      for (long j" in (world.folder / "out/kernel.py").read_text()


def test_an_interrupt_during_a_request_loses_nothing(world: World) -> None:
    world.play({"silent": True})
    process = world.start(world.folder / "small.py", "--coder", "llm", "--target", "null")
    end = time.monotonic() + 120
    while not world.server.requests and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, said = world.end(process)
    assert code == 2 and "stopped: interrupted; 1 attempts are kept" in said, said
    assert len(world.attempts()) == 1
