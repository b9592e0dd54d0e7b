"""TritonBench's performance sizes: the script that a file which measures is made into, and the sizes that are chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.tritonbench.performance import at_places, chosen, memory_of, spread, taken
from mtmc.tritonbench.task_file import TaskFile, run_script
from mtmc.wire.task_error import TaskError

TASK = TaskFile("max", "largest", "import torch\n\ndef largest(x, y=None):\n    return torch.max(x) + y\n", "")
HEAD = """
import sys, json
import torch.nn.functional as F, triton
from math import prod as product
from TorchBench_v1.max import largest as top
from performance_utils import Performance_Metrics, do_bench_config

sys.path.append("..")
LEAST = product((2, 2))

class performance_metrics(Performance_Metrics):
    def __init__(self, dtype=None, **kwargs):
        super().__init__('max', dtype=dtype, **kwargs)
        self.y = 1
"""
INPUTS = """
    def get_input_tensors(self):
        self.input_tensors, sizes = [], []
        for i in range(40):
            sizes.append(LEAST * 2 ** i)
        for size in sizes:
            if size > 0:
                for _ in range(1):
                    self.input_tensors.append([F.relu(torch.ones(size))])
"""
REST = """
    def to_cuda(self, made):
        return [made[0].cuda()]

    def call_op(self, made):
        top(made[0], self.y)

    def get_gbps(self, made, ms):
        return triton.nothing

if __name__ == '__main__':
    performance_metrics().run_benchmark()
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "max_perf.py"
    file.write_text(text)
    return file


def sizes_called(task: TaskFile, file: Path) -> list[int]:
    seen: list[int] = []

    def wrap(function):
        return lambda x, y: seen.append(x.numel()) or function(x, y)

    for part in task.on_cpu().scripts():
        run_script(part, part.golden, file, wrap, 0)
    return seen


def test_one_size_is_made_at_a_time(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + INPUTS + REST)
    task = at_places(TASK, file, [0, 3])
    assert sizes_called(task, file) == [4, 32]
    for word in ("triton", "sys", "TorchBench", "performance_utils", "get_gbps", "__main__"):
        assert word not in task.tests
    assert taken(at_places(TASK, file, [35]).on_cpu(), file).passed == 2**37 * 4 + 4, "what no machine here could hold"


def test_sizes_are_spread_and_the_largest_that_fits_is_among_them(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + INPUTS + REST)
    between = f"or a value in between more than {memory_of('cpu') // 4:,}"
    words = f"33 of 40 sizes, whose arguments and results take more than 1,030 bytes, {between}"
    assert chosen(TASK, "cpu", str(file), 3, 1030) == ([0, 3, 6], words)
    assert chosen(TASK, "cpu", str(file), 1, 1030) == ([6], words)
    places, _ = chosen(TASK, "cpu", str(file), 2, 0)
    assert places[0] == 0 and 2 ** places[1] * 16 <= memory_of("cpu") / 16 < 2 ** places[1] * 32
    assert chosen(TASK, "cpu", str(file), 3, 3) == ([], words.replace("33", "40").replace("1,030", "3"))
    assert [spread([0, 1, 2, 3, 4], each) for each in (1, 2, 3, 9)] == [[4], [0, 4], [0, 2, 4], [0, 1, 2, 3, 4]]
    assert spread([], 3) == []


def test_what_is_computed_in_between_has_to_fit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtmc.tritonbench.performance.memory_of", lambda device: 1 << 20)
    task = TaskFile("max", "largest", "def largest(x, y):\n    return (x[:, None] * x + y).sum()\n", "")
    places, words = chosen(task, "cpu", str(written(tmp_path, HEAD + INPUTS + REST)), 3, 0)
    assert places == [0, 3, 6], "256 * 256 floats are a quarter of the memory"
    assert words.endswith("more than 65,536 bytes, or a value in between more than 262,144")


def test_what_cannot_be_made_a_script_is_named(tmp_path: Path) -> None:
    for text, wanted in (
        ("class performance_metrics:\n", "max_perf.py is no Python"),
        ("x = 1\n", "max_perf.py defines no such class: wanted performance_metrics"),
        (HEAD + REST, r"no loop of get_input_tensors\(\) adds to input_tensors"),
    ):
        with pytest.raises(TaskError, match=wanted):
            at_places(TASK, written(tmp_path, text), [0])
    with pytest.raises(TaskError, match="no such file"):
        at_places(TASK, tmp_path / "none.py", [0])


def test_a_result_of_unknown_size_counts_as_nothing(tmp_path: Path) -> None:
    task = TaskFile("max", "largest", "def largest(x, y):\n    return x[x > y]\n", "")
    file = written(tmp_path, HEAD + INPUTS + REST)
    assert taken(at_places(task, file, [4]).on_cpu(), file).passed == 64 * 4
    assert torch.ones(1).sum() == 1, "nothing is left of the mode that made no values"
