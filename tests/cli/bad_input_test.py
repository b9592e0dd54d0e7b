"""The user's mistakes, row by row: one clear message, exit code 2, and a store that is still whole."""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
GOOD = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.linear = torch.nn.Linear(8, width)
    def forward(self, x):
        return torch.relu(self.linear(x))
def get_inputs():
    return [torch.randn(4, 8)]
"""


def run_mtmc(
    *words: object, prefix: tuple[str, ...] = (), timeout: float = 300, **how: object
) -> subprocess.CompletedProcess[str]:
    argv = [*prefix, str(BINARY), *map(str, words)]
    how = {"capture_output": True, "text": True, "timeout": timeout, "stdin": subprocess.DEVNULL, **how}
    return subprocess.run(argv, check=False, **how)  # type: ignore[call-overload]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(GOOD)
    return tmp_path


def optimize(folder: Path, task: object, *words: object, **how: object) -> subprocess.CompletedProcess[str]:
    return run_mtmc("optimize", task, "--out", folder / "out", "--store", folder / "s.db", *words, **how)


def store_is_whole(path: Path) -> bool:
    """No store at all is whole too."""
    if not path.exists():
        return True
    with sqlite3.connect(path) as store:
        return store.execute("pragma integrity_check").fetchone() == ("ok",)


def expect_mistake(done: subprocess.CompletedProcess[str], folder: Path, *words: str) -> None:
    """One line on standard error that says all of `words`."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1 and lines[0].startswith("mtmc: "), done.stderr
    for word in words:
        assert word in lines[0], lines[0]
    assert store_is_whole(folder / "s.db")


FILES = {
    "syntax.py": "def forward(:\n",
    "unknown_package.py": "import no_such_package\n",
    "no_model.py": "import torch\nclass Net(torch.nn.Module):\n    pass\ndef get_inputs():\n    return []\n",
    "no_inputs.py": GOOD.split("def get_inputs")[0],
    "bad_shapes.py": GOOD.replace("torch.randn(4, 8)", "torch.randn(4, 9)"),
    "on_gpu.py": GOOD.replace("torch.randn(4, 8)", "torch.randn(4, 8).cuda()"),
    "cuda.py": GOOD.replace("torch.randn(4, 8)", "torch.randn(4, 9)"),  # the name of a package that torch looks for
    "huge.py": GOOD.replace("torch.randn(4, 8)", "torch.randn(1 << 44, 8)"),
    "untraceable.py": GOOD.replace("return torch", "return x if x.sum().item() > 0 else torch"),
}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("syntax.py", ("loading syntax", "does not import", "invalid syntax")),
        ("unknown_package.py", ("loading unknown_package", "does not import", "no_such_package")),
        ("no_model.py", ("loading no_model", "has no Model", "Net")),
        ("no_inputs.py", ("loading no_inputs", "has no get_inputs()", "--input")),
        ("bad_shapes.py", ("shapes cannot be multiplied",)),
        ("cuda.py", ("shapes cannot be multiplied",)),
        ("huge.py", ("calling get_inputs(): out of memory: got", "wanted smaller inputs")),
        ("untraceable.py", ("untraceable",)),
    ],
)
def test_a_file_that_cannot_be_used(folder: Path, name: str, words: tuple[str, ...]) -> None:
    (folder / name).write_text(FILES[name])
    expect_mistake(optimize(folder, folder / name), folder, *words)


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="this machine has a GPU")
def test_inputs_on_a_missing_gpu(folder: Path) -> None:
    (folder / "on_gpu.py").write_text(FILES["on_gpu.py"])
    done = optimize(folder, folder / "on_gpu.py")
    expect_mistake(
        done, folder, "calling get_inputs(): needs a GPU, and here is none: got", "wanted tensors on the cpu"
    )


def test_a_file_in_another_encoding(folder: Path) -> None:
    text = GOOD.replace("import torch", "# -*- coding: latin-1 -*-\nimport torch  # caf\xe9 \x85", 1)
    (folder / "net.py").write_bytes(text.replace("super()", '"\xe9"; super()').lstrip().encode("latin-1"))
    done = optimize(folder, folder / "net.py", "--target", "null", "--evaluations", 1)
    assert done.returncode in (0, 1), done.stderr
    applied = run_mtmc("apply", folder / "net.py", "--target", "cpu", "--write", folder / "kernel.py")
    assert applied.returncode == 0, applied.stderr
    assert '"\xe9"; super()' in (folder / "kernel.py").read_text()


def test_a_name_of_torchs_own_in_this_folder(folder: Path) -> None:
    (folder / "cuda.py").write_text(FILES["cuda.py"])
    done = optimize(folder, "cuda.py", cwd=folder)
    expect_mistake(done, folder, "shapes cannot be multiplied")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.py", "net.py"], "opening the task: no such file: got"),
        (["net.py", "nothing.py"], "opening the candidate: No such file or directory: got"),
        (["net.py", "."], "opening the candidate: not a file: got '.', wanted a Python file with ModelNew"),
        (["syntax.py", "net.py"], "loading syntax: syntax.py does not import"),
        (["bad_shapes.py", "net.py"], "running Model on its inputs: RuntimeError"),
        (["net.py", "net.py", "--accuracy", "loose"], "wrong value for --accuracy: got 'loose', wanted one of eager"),
        (["net.py", "net.py", "--weights", "none.pt"], "no such checkpoint: got 'none.pt'"),
        (["net.py"], "reading the command line: CANDIDATE is missing"),
        (
            ["net.py", "--list", "l.jsonl"],
            "--list names files and candidates: got 'net.py' beside it, wanted one of both",
        ),
        (["--list", "none.jsonl"], "reading the list of candidates: cannot be read: got 'none.jsonl'"),
        (["--list", "net.py"], "reading the list of candidates: not a JSON object: got"),
    ],
)
def test_what_cannot_be_verified(folder: Path, words: list[str], message: str) -> None:
    for name in ("syntax.py", "bad_shapes.py"):
        (folder / name).write_text(FILES[name])
    expect_mistake(run_mtmc("verify", *words, cwd=folder), folder, message)


def test_a_file_that_does_not_exist(folder: Path) -> None:
    done = optimize(folder, folder / "nothing.py")
    expect_mistake(done, folder, "opening the task: no such file: got", "nothing.py", "wanted a Python file")


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="this machine has a GPU")
def test_a_missing_gpu(folder: Path) -> None:
    done = run_mtmc("verify", folder / "net.py", folder / "net.py", "--device", "cuda")
    expect_mistake(done, folder, "this machine has no NVIDIA GPU", "wanted --device cpu")
    words = ("--target", "cuda", "--coder", "llm", "--model", "m", "--base-url", "http://localhost:1/v1")
    expect_mistake(optimize(folder, folder / "net.py", *words), folder, "nothing runs here: got cuda", "that has a GPU")


def test_a_target_that_nobody_prints(folder: Path) -> None:
    done = optimize(folder, folder / "net.py", "--target", "cuda")
    expect_mistake(done, folder, "builtin: it prints no kernels for this target: got cuda, wanted --coder llm")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["optimize", "--tragets", "cpu"], "unknown option of optimize: got '--tragets': did you mean --target?"),
        (["optimise", "x.py"], "unknown verb: got 'optimise': did you mean optimize?"),
        (["optimize", "--xyz"], "unknown option of optimize: got '--xyz', wanted one of --"),
        (["optimize"], "FILE is missing: wanted a Python file with Model"),
        (["verify", "x.py"], "CANDIDATE is missing: wanted FILE CANDIDATE, or --list FILE"),
        (["bench"], "SUITE is missing: wanted files, kernelbench"),
        (["knowledge", "add"], "nothing is named: wanted mtmc knowledge add FILE..."),
        (
            ["optimize", "x.py", "--steps", "many"],
            "wrong value for --steps: got 'many', wanted a whole number of at least 1",
        ),
        (["optimize", "x.py", "--steps", "9" * 20], f"got '{'9' * 20}', wanted a whole number from 1 to 2147483647"),
        (
            ["optimize", "x.py", "--max-cost", "1"],
            "--max-cost is for --coder agent, free, llm, single_pass or --policy chat: got --coder builtin and --policy",
        ),
        (
            ["optimize", "x.py", "--out", "--json"],
            "--out has no value: got '--json', wanted a value; --out=--json if that",
        ),
        (["optimize", "x.py", "--init", "--store", "s.db"], "--init has no value: got '--store'"),
        (["optimize", "x.py", "--target", "tpu"], "wrong value for --target: got 'tpu', wanted one of auto, cpu"),
        (["show", "latest"], "not a run's number: got 'latest'"),
        ([], "no verb: got nothing, wanted one of actions"),
    ],
)
def test_words_that_mean_nothing(folder: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite_store = folder / "s.db"
    monkeypatch.setenv("MTMC_STORE", str(sqlite_store))
    if words[:1] == ["show"]:
        assert optimize(folder, folder / "net.py", "--target", "null", "--evaluations", 1).returncode in (0, 1)
    expect_mistake(run_mtmc(*words), folder, message)


def test_what_this_mtmc_is() -> None:
    told = run_mtmc("--version")
    assert told.returncode == 0 and re.fullmatch(r"mtmc, judge \d+, commit (unknown|[0-9a-f]{7,})\n", told.stdout)
    assert run_mtmc("doctor").stdout.startswith(told.stdout)


def test_what_cannot_be_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTMC_STORE", str(folder / "s.db"))
    for seed in (1, 2):
        done = optimize(folder, folder / "net.py", "--target", "null", "--evaluations", 2, "--seed", seed)
        assert done.returncode == 0, done.stderr
    shown = run_mtmc("show", 2, "--code").stdout.splitlines()
    kernel = (folder / "out" / "kernel.py").read_text().splitlines()  # nothing runs it: comments
    assert shown and [line.removeprefix("# ") for line in kernel[1:]] == shown
    listed, run = json.loads(run_mtmc("show", "--json").stdout)[0], json.loads(run_mtmc("show", 1, "--json").stdout)
    assert (
        listed["attempts"] == len(run["nodes"]) - 1
        and f" {listed['attempts']} attempts in " in run_mtmc("show", 1).stdout
    )
    expect_mistake(run_mtmc("show", "--code"), folder, "nothing says whose: wanted RUN, or --node N")
    expect_mistake(
        run_mtmc("show", 2, "--node", 1), folder, "showing attempt 1: it is another run's: got run 2, wanted run 1"
    )
    with sqlite3.connect(folder / "s.db") as store:
        store.execute("UPDATE nodes SET code_hash = NULL, failure = 'it broke' WHERE id = 1")
    expect_mistake(
        run_mtmc("show", "--node", 1, "--code"), folder, "attempt 1: it has no code: got it broke, wanted one"
    )


def test_a_kernel_that_cannot_be_compiled(folder: Path) -> None:
    words = ("apply", folder / "net.py", "--target", "cpu", "--do", "fuse %3 %4", "--write", folder / "kernel.py")
    assert run_mtmc(*words).returncode == 0
    for name, value, said in (
        ("CXX", "no-compiler", "needs a C++ compiler: found no no-compiler (g++, or $CXX)"),
        ("MTMC_KERNEL_CACHE", str(folder / "net.py" / "kept"), "needs a folder to keep them ($MTMC_KERNEL_CACHE): "),
    ):
        env = {**os.environ, "MTMC_KERNEL_CACHE": str(folder / "kept"), name: value}
        argv = [sys.executable, folder / "kernel.py"]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=100, check=False)
        last = done.stderr.splitlines()[-1]
        assert last.startswith("RuntimeError: compiling the kernels of net") and said in last, done.stderr


def test_a_dataset_that_is_packed(folder: Path) -> None:
    (folder / "trees.xz").write_bytes(lzma.compress(b"{}"))
    (folder / "noise").write_bytes(b"\x00\x1b[31m\xff")
    packed = run_mtmc("dataset", "describe", folder / "trees.xz")
    expect_mistake(packed, folder, "it is packed: got", f"wanted it unpacked: xz -dk {folder}/trees.xz")
    noise = run_mtmc("dataset", "describe", folder / "noise")
    expect_mistake(noise, folder, "another format: got", "bytes that are no text, wanted mtmc-trees")


def test_a_kind_of_tests_that_there_is_not() -> None:
    wrong, asked = (
        subprocess.run([ROOT / "test", word], capture_output=True, text=True, timeout=60, check=False)
        for word in ("nonsense", "--help")
    )
    assert wrong.returncode == 2 and "got 'nonsense', wanted fast, all, corpus or sanitize" in wrong.stderr
    assert asked.returncode == 0 and "\n  corpus    all files of the judge's corpora\n" in asked.stdout


def test_a_result_folder_below_a_file(folder: Path) -> None:
    done = run_mtmc("optimize", folder / "net.py", "--out", folder / "net.py" / "out", "--store", folder / "s.db")
    expect_mistake(done, folder, "opening the result folder: cannot make it", "wanted --out")


def mount_namespace(setup: str) -> tuple[str, ...]:
    """The words that run a program after `setup` in a mount namespace of its own; skips where that is not allowed."""
    words = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    if shutil.which("unshare") is None or subprocess.run([*words, setup], capture_output=True, check=False).returncode:
        pytest.skip("mounts in a user namespace are not allowed here")
    return (*words, f'{setup} && exec "$@"', "sh")


def test_a_read_only_result_folder(folder: Path) -> None:
    (folder / "out").mkdir()
    prefix = mount_namespace(f"mount -t tmpfs -o ro tmpfs {folder}/out")
    done = optimize(folder, folder / "net.py", prefix=prefix)
    expect_mistake(
        done, folder, "opening the result folder: cannot write there", "Read-only file system", "wanted --out"
    )


@pytest.mark.parametrize("full", ["out", "store"])
def test_a_full_disk(folder: Path, full: str) -> None:
    (folder / full).mkdir()
    prefix = mount_namespace(f"mount -t tmpfs -o size=16k tmpfs {folder}/{full}")
    store = folder / ("store/s.db" if full == "store" else "s.db")
    out = folder / "out"
    words = ("optimize", folder / "net.py", "--target", "null", "--out", out, "--store", store)
    done = run_mtmc(*words, prefix=prefix)
    expect_mistake(done, folder, "No space left" if full == "out" else "full")


@pytest.mark.parametrize("limit", [20_000, 100_000])
def test_a_limit_on_the_size_of_files(folder: Path, limit: int) -> None:
    if shutil.which("prlimit") is None:
        pytest.skip("no prlimit here")
    done = optimize(folder, folder / "net.py", "--target", "null", prefix=("prlimit", f"--fsize={limit}"))
    expect_mistake(done, folder, "the store", "disk I/O error", "wanted a disk that takes writes")


def test_no_folder_for_temporary_files(folder: Path) -> None:
    env = {**os.environ, "TMPDIR": str(folder / "missing")}
    done = optimize(folder, folder / "net.py", env=env)
    expect_mistake(done, folder, "using the file system", "No such file or directory", "TMPDIR")


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Zombies are dead; who reaps them is not our business."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", ["optimize", "verify"])
def test_an_interrupt_ends_everything(folder: Path, verb: str, number: signal.Signals) -> None:
    (folder / "slow.py").write_text("import time\ntime.sleep(100)\n")
    own = ["--out", folder / "out", "--store", folder / "s.db"] if verb == "optimize" else [folder / "slow.py"]
    words = [str(word) for word in (BINARY, verb, folder / "net.py", *own)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (children := children_of(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert children
    time.sleep(3)  # in the middle: the tracer or the judge is at work
    children = sorted({*children, *children_of(process.pid)})
    assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, (out, err)
    assert [line for line in err.splitlines() if line.strip()][0].startswith("mtmc: stopped: interrupted")
    assert store_is_whole(folder / "s.db")
    deadline = time.monotonic() + 20
    while any(map(is_alive, children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in children if is_alive(pid)]
