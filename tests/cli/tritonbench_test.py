"""`mtmc bench tritonbench` from end to end on the CPU, on task files in TritonBench's format that are written here."""

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
SEPARATOR = "#" * 146

TASKS = {
    # Called in three ways, one of them twice; by name and by place; with a random argument; it prints.
    "scaled": (
        """
import torch

def scaled(input, other=None, *, factor=2.0, out=None):
    result = torch.relu(input * factor)
    return result if other is None else result + other
""",
        """
import torch

def test_scaled():
    x = torch.tensor([1.0, -2.0, 3.0], device='cuda')
    results = [scaled(x), scaled(x, torch.randn(3, device="cuda:0"), factor=0.5), scaled(input=x.cuda(), factor=2.0)]
    results.append(scaled(torch.randn(2, 2).cuda(), factor=-1))
    print(results[0].sum().item())
    return results

test_results = test_scaled()
""",
    ),
    # Writes to an argument and returns it; imports itself, as some of the benchmark's tests do.
    "shifted_": (
        """
import torch

def shifted_(input, by: float = 1.0):
    return input.mul_(2).add_(by)
""",
        """
import torch
from shifted_ import shifted_

x = torch.ones(4, device='cuda')
assert shifted_(x) is x and x[0] == 3, x
""",
    ),
    # Complex results, and a call that the golden code refuses.
    "waves": (
        """
import torch

def waves(input):
    if input.dim() != 1:
        raise ValueError("one axis")
    return torch.fft.fft(input)
""",
        """
import torch

assert waves(torch.arange(4.0, device='cuda')).is_complex()
try:
    waves(torch.zeros(2, 2, device='cuda'))
except ValueError as error:
    assert str(error) == "one axis"
""",
    ),
    "qr": (
        "\nimport torch\n\ndef qr(A, mode='reduced'):\n    return torch.linalg.qr(A, mode=mode)\n",
        "\nimport torch\n\nqr(torch.randn(4, 3, device='cuda'))\n",
    ),
    # Both ways of a branch, for arguments of one type; and a number of elements that nobody knows before.
    "branching": (
        "\nimport torch\n\ndef branching(x):\n    return x + 1 if x.sum() > 0 else x * 3\n",
        "\nimport torch\n\nx = torch.ones(3, device='cuda')\nassert branching(x)[0] == 2 and branching(-x)[0] == -3\n",
    ),
    "chosen": (
        "\nimport torch\n\ndef chosen(x):\n    return x[x > 0]\n",
        "\nimport torch\n\nchosen(torch.ones(3, device='cuda'))\n",
    ),
    "broken": (
        "\nimport torch\n\ndef broken(x):\n    return torch.no_such_function(x)\n",
        "\nimport torch\n\nbroken(torch.ones(3, device='cuda'))\n",
    ),
}


# What measures a task, as the benchmark writes it.
MEASURED = """
import sys
import os
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), '..')))
from TorchBench_v1.{name} import {name}
from performance_utils import Performance_Metrics, do_bench_config
import torch
import triton
import triton.language as tl

class performance_metrics(Performance_Metrics):
    def __init__(self, dtype=None, is_backward=False, **kwargs):
        super().__init__('{name}', dtype=dtype, is_backward=is_backward, **kwargs)

    def get_input_tensors(self):
        self.input_tensors = []
        for i in range(4, 40):
            size = 2 ** i
            self.input_tensors.append(({made}))

    def to_cuda(self, input_tuple):
        return tuple(t.cuda() for t in input_tuple)

    def call_op(self, input_tuple):
        return {name}(*input_tuple)

    def get_gbps(self, input_tuple, runtime):
        return triton.no_such_function(runtime)

if __name__ == '__main__':
    op_perf = performance_metrics()
    op_perf.get_input_tensors()
    op_perf.get_do_bench_config(warmup=100, rep=1000)
    op_perf.run_benchmark()
"""
MADE = {
    "scaled": "torch.randn(size, dtype=self.dtype), torch.rand(size)",
    "shifted_": "torch.rand(size),",
    "qr": "torch.rand(size, forgotten),",  # one of the benchmark's own files is like this
}


def bench(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [str(BINARY), "bench", "tritonbench", "--root", str(root), "--out", str(root / "out")]
    argv += ["--store", str(root / "s.db"), "--target", "cpu", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)


def rows(root: Path) -> list[dict]:
    return [json.loads(line) for line in (root / "out/rows.jsonl").read_text().splitlines()]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "data/TritonBench_T_v1"
    folder.mkdir(parents=True)
    for name, (golden, tests) in TASKS.items():
        (folder / f"{name}.py").write_text(f"{golden}\n{SEPARATOR}\n{tests}")
    (folder / "notes.py").write_text("# no task\n")
    return tmp_path


def test_each_call_gets_its_kernel_and_the_rest_is_named(checkout: Path) -> None:
    done = bench(checkout, "--untouched", "--suite", "T")
    assert done.returncode == 1, done.stdout + done.stderr
    found = {row["task"]: row for row in rows(checkout)}
    assert set(found) == {f"T/{name}" for name in TASKS}
    verdicts = {name: [row[key] for key in ("called", "executed", "strict")] for name, row in found.items()}
    assert verdicts == {
        "T/scaled": [True, True, True],
        "T/shifted_": [True, True, True],
        "T/waves": [True, True, True],
        "T/qr": [True, True, True],
        "T/branching": [True, True, True],
        "T/chosen": [False, False, False],
        "T/broken": [False, False, False],
    }
    scaled = found["T/scaled"]
    assert [case["key"] for case in scaled["cases"]] == [
        "input=float32[3], other=None, factor=2.0, out=None",
        "input=float32[3], other=float32[3], factor=0.5, out=None",
        "input=float32[2, 2], other=None, factor=-1, out=None",
    ]
    assert found["T/qr"]["reconstructed"] is True and "not unique" in found["T/qr"]["excluded"]
    assert [case["decisions"] for case in found["T/branching"]["cases"]] == [[True], [False]]
    assert "forward returns what a program cannot hold" in found["T/chosen"]["error"]
    assert "no_such_function" in found["T/broken"]["golden_fails"] and found["T/broken"]["error"] is None
    assert "the golden code refuses this call: ValueError: one axis" in found["T/waves"]["cases"][1]["refused"]

    summary = (checkout / "out/summary.md").read_text()
    assert "| call accuracy (official) | 5 of 7 (71.4 %) |" in summary
    assert "| strict accuracy, without the excluded | 4 of 6 (66.7 %) |" in summary
    assert "| factors that are not unique, by reconstruction | 1 of 1 (100.0 %) |" in summary
    assert "### Golden code that does not run here\n\n- `T/broken`: " in summary
    assert "### Not called\n\n- `T/chosen`: " in summary

    # The candidate stands alone, and computes nothing that no kernel is for.
    folder = checkout / "out/T/scaled"
    code = "from candidate import scaled; import torch; print(scaled(torch.tensor([1., -2., 3.]), factor=2.0)); "
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ran = subprocess.run(
        [sys.executable, "-c", code + "scaled(torch.zeros(5))"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tensor([2., 0., 6.])" in ran.stdout, ran.stderr
    assert "no kernel is for this: got (input=float32[5], other=None, factor=2.0, out=None)" in ran.stderr

    again = bench(checkout, "--untouched", "--tasks", "T/[a-bd-z]*")
    assert again.stdout.count("(remembered)") == 6, "nothing is done twice"


def test_sizes_are_those_that_the_benchmark_measures(checkout: Path) -> None:
    measured = checkout / "performance_metrics/perf_T/golden_metrics"
    measured.mkdir(parents=True)
    for name, made in MADE.items():
        (measured / f"{name}_perf.py").write_text(MEASURED.format(name=name, made=made))
    words = ["--untouched", "--sizes", "performance", "--sizes-largest", "100000", "--tasks"]
    done = bench(checkout, *words, "T/scaled,T/shifted_,T/waves")
    assert done.returncode == 1, done.stdout + done.stderr
    found = {row["task"]: row for row in rows(checkout)}
    assert "reading the performance sizes of waves: no such file" in found["T/waves"]["error"]
    for name in ("scaled", "shifted_"):
        row = found[f"T/{name}"]
        assert [row[key] for key in ("sizes", "called", "executed", "strict")] == ["performance", True, True, True], row
    # Three arrays of 2^13 floats take 98304 bytes: nothing as large as the last sizes is made.
    assert found["T/scaled"]["places"] == [0, 4, 9]
    words_for_it = "26 of 36 sizes, whose arguments and results take more than 100,000 bytes, or a value in between "
    assert found["T/scaled"]["left_out"].startswith(words_for_it)
    keys = [case["key"] for case in found["T/scaled"]["cases"]]
    assert keys[2] == "input=float32[8192], other=float32[8192], factor=2.0, out=None"
    assert [case["changed"] for case in found["T/shifted_"]["cases"]] == [[0]] * 3
    summary = (checkout / "out/summary.md").read_text()
    assert "| strict accuracy at performance sizes, without the excluded | 2 of 3 (66.7 %) |" in summary
    assert not list(checkout.glob("out/T/*/golden.pt"))

    script = checkout / "out/T/scaled/official.py"
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr

    one = bench(checkout, *words, "T/qr,T/scaled", "--sizes-each", "1", "--out", str(checkout / "one"))
    assert one.returncode == 0, one.stdout + one.stderr
    two = [json.loads(line) for line in (checkout / "one/rows.jsonl").read_text().splitlines()]
    assert two[0]["golden_fails"] == "NameError: name 'forgotten' is not defined"
    assert two[1]["places"] == [9]
    mixed = bench(checkout, "--untouched")
    assert (
        mixed.returncode == 2 and 'of other sizes: got ["performance",3,100000], wanted ["tests",0,0]' in mixed.stderr
    )
    fewer = bench(checkout, *words, "T/scaled", "--sizes-each", "2")
    assert fewer.returncode == 2 and 'wanted ["performance",2,100000], or another --out' in fewer.stderr
    neither = bench(checkout, "--untouched", "--sizes-each", "2", "--out", str(checkout / "one"))
    assert neither.returncode == 2 and "tests have their own sizes" in neither.stderr


def test_mistakes_are_told(checkout: Path) -> None:
    for words, wanted in (
        (("--suite", "G"), "choosing tasks: the suite has no such task: got 'G'"),
        (("--sizes", "large"), "wrong value for --sizes: got 'large', wanted one of tests, performance"),
        (("--coder", "faulty"), "tests run candidates outside the judge's walls: got 'faulty', wanted builtin"),
    ):
        done = bench(checkout, *words)
        assert done.returncode == 2 and wanted in done.stderr, done.stdout + done.stderr
    none = bench(checkout / "out", "--untouched")
    assert none.returncode == 2 and "wanted a checkout of github.com/thunlp/TritonBench" in none.stderr
