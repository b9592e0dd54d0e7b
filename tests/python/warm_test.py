"""What `./test` sets as MTMC_PYTHON: processes that are forked from one that has imported torch end as others do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TASK = """
import os, signal, sys, time
import torch
print("began", flush=True)
{what}
class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1
def get_inputs():
    return [torch.ones(2)]
"""


def begin(folder: Path, what: str, **more: str) -> subprocess.Popen[str]:
    (folder / "net.py").write_text(TASK.format(what=what))
    (folder / "task.json").write_text(json.dumps({"name": "net", "file": str(folder / "net.py")}))
    argv = [ROOT / "tests/support/warm/python", "-m", "mtmc.trace.trace", "task.json", "out.json"]
    real = os.environ.get("MTMC_WARM_PYTHON", sys.executable)
    environment = {**os.environ, "MTMC_WARM": str(folder), "MTMC_WARM_PYTHON": real, **more}
    environment["PYTHONPATH"] = str(ROOT / "python")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(argv, cwd=folder, env=environment, text=True, **pipes)  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One where the tracer is forked."""
    made = tmp_path_factory.mktemp("w")
    for _ in range(3):
        assert begin(made, "").wait() == 0
    until = time.monotonic() + 60
    while not any(path.is_socket() for path in made.iterdir()) and time.monotonic() < until:
        time.sleep(0.1)
    yield made


def is_forked(process: subprocess.Popen[str]) -> bool:
    """It waits for another."""
    return b"support/warm/python" in Path(f"/proc/{process.pid}/cmdline").read_bytes()


def test_its_code_its_words_and_its_surroundings(folder: Path) -> None:
    done = begin(folder, "print(os.environ['SAID'], os.getcwd()); os._exit(7)", SAID="yes")
    assert done.communicate()[0].split() == ["began", "yes", str(folder)] and done.returncode == 7
    done = begin(folder, "")
    assert (done.communicate()[0], done.returncode) == ("began\n", 0)
    assert "error" not in json.loads((folder / "out.json").read_text())


def test_its_signal(folder: Path) -> None:
    done = begin(folder, "os.kill(os.getpid(), signal.SIGSEGV)")
    assert done.wait() == -signal.SIGSEGV


def test_who_is_killed_takes_it_along(folder: Path) -> None:
    done = begin(folder, "open('pid', 'w').write(str(os.getpid()))\ntime.sleep(100)")
    assert done.stdout is not None and done.stdout.readline() == "began\n"
    assert is_forked(done)
    done.kill()
    done.wait()
    assert done.stdout.read() == "", "nobody holds the other end of its pipe any more"


def test_other_surroundings_have_a_process_of_their_own(folder: Path) -> None:
    done = begin(folder, "time.sleep(1)", OMP_NUM_THREADS="1")
    assert done.stdout is not None and done.stdout.readline() == "began\n"
    assert not is_forked(done)
    assert done.wait() == 0
