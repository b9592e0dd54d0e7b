"""`mtmc bench tritonbench --suite G` on the CPU with Triton's interpreter, on tasks in TritonBench's format that are written here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_world import World

SEPARATOR = "#" * 146
GOLDEN = """
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


def scale(x, factor=2.0):
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), factor, BLOCK=64)
    return out
"""
TESTS = """
import torch

def test_scale():
    x = torch.randn(100, device='cuda')
    return {"usual": scale(x), "half": scale(x, 0.5)}

result_gold = test_scale()
"""
PERF = """
import torch
from TritonBench_v1.scale import scale
from performance_utils import Performance_Metrics, do_bench_config

class performance_metrics(Performance_Metrics):
    def __init__(self, dtype=None, is_backward=False, **kwargs):
        super().__init__('scale', dtype=dtype, is_backward=is_backward, **kwargs)

    def get_input_tensors(self):
        self.input_tensors = []
        for i in range(4, 44):
            self.input_tensors.append(torch.rand(2 ** i))

    def to_cuda(self, input_tensor):
        return input_tensor.cuda()

    def call_op(self, input_tensor):
        return scale(input_tensor, 3.0)

    def get_gbps(self, input_tensor, runtime):
        return 8 * input_tensor.numel() / runtime / 1e6

    def get_tflops(self, input_tensor, runtime):
        return input_tensor.numel() / runtime / 1e9
"""
RIGHT = GOLDEN.replace("scale_kernel", "own_kernel")
WRONG = RIGHT.replace("* factor", "+ factor")


def block(code: str) -> dict[str, str]:
    return {"answer": f"Here it is.\n\n```python\n{code}```\n"}


@pytest.fixture
def checkout(world: World) -> Path:
    root = world.folder / "checkout"
    folder = root / "data/TritonBench_G_v1"
    folder.mkdir(parents=True)
    for name in ("scale", "scale_again", "scale_wrong"):
        (folder / f"{name}.py").write_text(f"{GOLDEN}\n{SEPARATOR}\n{TESTS}")
    (folder / "gone.py").write_text(f"{GOLDEN}\n{SEPARATOR}\n{TESTS.replace('torch.randn', 'torch.no_such')}")
    measured = root / "performance_metrics/perf_G/golden_metrics"
    measured.mkdir(parents=True)
    for name in ("scale", "scale_wrong"):
        (measured / f"{name}_perf.py").write_text(PERF)
    listed = [{"file": f"{path.name}", "comp_instru": f"Write {path.stem}."} for path in sorted(folder.glob("*.py"))]
    (root / "data/TritonBench_G_v1.json").write_text(json.dumps(listed))
    return root


def bench(world: World, root: Path, *words: object) -> tuple[int, str]:
    return world.end(world.begin("bench", "tritonbench", "--root", root, "--target", "cpu", *words))


def rows(world: World) -> dict[str, dict]:
    found = [json.loads(line) for line in (world.folder / "out/rows.jsonl").read_text().splitlines()]
    return {row["task"]: row for row in found}


def verdict(row: dict) -> list[bool]:
    return [row["called"], row["executed"], row["strict"]]


def test_scripts_are_written_from_instructions_and_held_to_the_golden_code(world: World, checkout: Path) -> None:
    world.play(block(RIGHT), {"answer": "I cannot."}, block("def scale(x):\n    return y\n"), block(WRONG))
    code, said = bench(world, checkout, "--suite", "G", "--coder", "llm")
    assert code == 0, said
    found = rows(world)
    shown = {name: verdict(row) for name, row in found.items()}
    assert shown == {
        "G/gone": [False, False, False],
        "G/scale": [True, True, True],
        "G/scale_again": [False, False, False],
        "G/scale_wrong": [True, True, False],
    }
    assert "no_such" in found["G/gone"]["golden_fails"] and "account" not in found["G/gone"]
    assert found["G/scale"]["account"]["requests"] == 1 and "NameError" in found["G/scale_again"]["reason"]
    assert "result_gold, leaf 0: 100 of 100 elements differ" in found["G/scale_wrong"]["reason"]
    first, asked_again = (world.server.requests[i]["body"]["messages"] for i in (0, 2))
    assert "Write scale." in first[-1]["content"] and "scale_kernel" not in json.dumps(first)
    assert "This cannot be used: reading the answer: there is no code in it" in asked_again[-1]["content"]
    assert (world.folder / "out/G/scale/candidate.py").read_text() == RIGHT
    summary = (world.folder / "out/summary.md").read_text()
    assert "| golden code that runs here | 3 of 4 (75.0 %) |" in summary
    assert "| call accuracy (official) | 2 of 4 (50.0 %) |" in summary
    assert "| strict accuracy, without the excluded | 1 of 4 (25.0 %) |" in summary
    assert "certified" not in summary and "- `G/scale_again`: NameError" in summary


def test_goldens_go_through_the_same_harness_without_a_model(world: World, checkout: Path) -> None:
    code, said = bench(world, checkout, "--suite", "G", "--goldens")
    assert code == 0, said
    found = rows(world)
    assert [verdict(found[f"G/{name}"]) for name in ("scale", "gone")] == [[True, True, True], [False, False, False]]
    summary = (world.folder / "out/summary.md").read_text()
    assert "### Golden code that does not run here\n\n- `G/gone`: " in summary


def test_what_is_right_is_timed_beside_the_golden_code(world: World, checkout: Path) -> None:
    only_here = WRONG.replace("+ factor", "* (2 if n > 200 else factor)")
    world.play(block(RIGHT), block(RIGHT), block(only_here))
    words = ("--sizes", "performance", "--sizes-each", 2, "--sizes-largest", 2000, "--coder", "llm", "--suite", "G")
    code, said = bench(world, checkout, *words)
    assert code == 0, said
    found = rows(world)
    timed = found["G/scale"]
    assert (
        timed["places"] == [0, 4] and timed["left_out"] == "35 of 40 sizes, whose arguments take more than 2,000 bytes"
    )
    assert timed["strict_at_sizes"] and timed["untimed"] == "" and timed["sizes"] == "performance"
    sums = [sum(one[which] for one in timed["measured"]) for which in ("golden_ms", "ms")]
    assert [timed["golden_ms"], timed["time_ms"]] == pytest.approx(sums)
    assert timed["speedup"] == {"eager": None, "golden": pytest.approx(sums[0] / sums[1])}
    assert 0 < timed["efficiency"] < 1 and 0 < timed["golden_efficiency"] < 1
    assert "no such file" in found["G/scale_again"]["untimed"] and "golden" not in found["G/scale_again"]["speedup"]
    wrong = found["G/scale_wrong"]
    assert wrong["strict"] and not wrong["strict_at_sizes"] and "golden" not in wrong["speedup"]
    assert wrong["untimed"].startswith("size 4: the result, leaf 0: 256 of 256 elements differ")
    assert found["G/gone"]["untimed"] == "its golden code does not run here"
    summary = (world.folder / "out/summary.md").read_text()
    assert "| strict at performance sizes, too | 1 of 2 (50.0 %) |" in summary
    assert "| over the golden code at performance sizes, geometric mean | " in summary
    assert "### Without a time\n\n- `G/scale`: left out: 35 of 40 sizes" in summary


def test_mistakes_are_told(world: World, checkout: Path) -> None:
    for words, wanted in (
        (("--suite", "G"), "these tasks are instructions in words: got 'builtin', wanted --coder llm with --model"),
        (("--suite", "G", "--goldens", "--untouched"), "no program is traced for this task: got G/gone"),
        ((), "the suite has no such task: got 'T'"),
    ):
        code, said = bench(world, checkout, *words)
        assert code == 2 and wanted in said, said
