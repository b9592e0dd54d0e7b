"""A server on this machine that plays a language model, and the command that asks it."""

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
from pathlib import Path
from typing import Any

from cuda_on_cpu import runner

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
        return self.begin("optimize", task, "--strategy", "rollout", "--time", 300, *words)

    def begin(self, verb: str, *words: object) -> subprocess.Popen[str]:
        asks = {"--coder", "--policy", "--ways"} & set(map(str, words))
        argv = [BINARY, verb, *words, *(["--model", "scripted"] if asks else [])]
        argv += ["--store", self.folder / "store.db", "--out", self.folder / "out"]
        environment = {**os.environ, "SCRIPTED_KEY": KEY, "MTMC_MODELS": str(self.folder / "models.json")}
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([str(word) for word in argv], env=environment, text=True, **pipes)

    def end(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        out, err = process.communicate(timeout=300)
        self.said += out + err
        return process.returncode, out + err

    def interrupt(self, process: subprocess.Popen[str], requests: int, seconds: float = 120) -> tuple[int, str]:
        """As Ctrl-C does, once the server has been asked so often."""
        end = time.monotonic() + seconds
        while len(self.server.requests) < requests and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        return self.end(process)

    def optimize(self, task: Path, *words: object) -> tuple[int, str]:
        return self.end(self.start(task, *words))

    def look(self, verb: str, *words: object) -> tuple[int, str]:
        """A verb that reads the store and asks nobody."""
        argv = [str(word) for word in (BINARY, verb, *words, "--store", self.folder / "store.db")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
        self.said += done.stdout + done.stderr
        return done.returncode, done.stdout + done.stderr

    def change(self, sql: str, *values: object) -> None:
        with sqlite3.connect(self.folder / "store.db") as store:
            store.execute(sql, values)

    def leaks(self) -> list[str]:
        """Whatever holds the key: files of the store and the results, and what was printed."""
        files = [path for path in self.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        return [str(path) for path in files] + (["printed"] if KEY in self.said else [])

    def runs(self) -> int:
        with sqlite3.connect(self.folder / "store.db") as store:
            return store.execute("SELECT count(*) FROM runs").fetchone()[0]

    def attempts(self) -> list[tuple[str, str, str]]:
        """(action, coder, the judge's reason) of each attempt of the last run."""
        with sqlite3.connect(self.folder / "store.db") as store:
            return store.execute(
                "SELECT action, coder, coalesce(reason, '') FROM nodes LEFT JOIN node_verdicts ON node = nodes.id AND "
                "node_verdicts.tier = 'screen' LEFT JOIN verdicts ON verdicts.id = node_verdicts.verdict "
                "WHERE run = (SELECT max(id) FROM runs) ORDER BY nodes.id"
            ).fetchall()

    def refusals(self) -> list[tuple[str, str, str]]:
        """(tier, action, the judge's sentence) of what was refused in the last run."""
        with sqlite3.connect(self.folder / "store.db") as store:
            return store.execute(
                "SELECT verdicts.tier, action, json_extract(verdicts.verdict, '$.message') FROM nodes JOIN node_verdicts ON node = "
                "nodes.id JOIN verdicts ON verdicts.id = node_verdicts.verdict WHERE outcome = 'refused' AND run = "
                "(SELECT max(id) FROM runs) ORDER BY nodes.id"
            ).fetchall()


def answer(name: str, **more: Any) -> dict[str, Any]:
    """A recorded answer. What all files for CUDA hold stands in the target's rules only."""
    text = (ANSWERS / f"{name}.md").read_text()
    return {"answer": text.replace("<the class Cuda, as it is>", runner()), **more}
