"""Suite G at performance sizes: scripts timed beside the golden one, with Triton's interpreter, on a task of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from script_server import asked, request, written

from mtmc.tritonbench.compare import difference_of_leaf
from mtmc.tritonbench.side_by_side import apart, places_of
from mtmc.tritonbench.sized import Filled

PERF = """
import sys
from TritonBench_v1.double import double
from performance_utils import Performance_Metrics, do_bench_config
import torch

sys.path.append("..")

class performance_metrics(Performance_Metrics):
    def __init__(self, dtype=None, is_backward=False, **kwargs):
        super().__init__('double', dtype=dtype, is_backward=is_backward, **kwargs)

    def get_input_tensors(self):
        for i in range(4, 44):
            self.input_tensors.append([torch.rand(2 ** i), torch.empty(4)])

    def to_cuda(self, input_tensor):
        return tuple(one.cuda() for one in input_tensor)

    def call_op(self, input_tensor):
        x, out = input_tensor
        out[:2] = double(x)[:2]
        return out.sum()

    def get_gbps(self, input_tensor, runtime):
        return 1024 * input_tensor[0].numel() / runtime

    def get_tflops(self, input_tensor, runtime):
        return float('nan')

if __name__ == '__main__':
    performance_metrics().run_benchmark()
"""
TORCH = "import torch\n\ndef double(x):\n    return x + x\n"
TELLS_LITTLE = """
import gc, time
for one in gc.get_objects():
    if type(one).__name__ == 'Sized':
        one.timed = lambda call: (call(), 1000)
def double(x):
    time.sleep(0.03)
    return x + x
"""
LATER = """
calls = 0
def double(x):
    global calls
    calls += 1
    return x + x if calls < 7 else x * 3
"""
SPEAKS = """
import contextlib, gc
from mtmc.wire.line import Line
lines = [one for one in gc.get_objects() if type(one) is Line]
def double(x):
    for line in lines * 2:
        with contextlib.suppress(OSError):  # not all of them are its own
            line.send({'changed': [1], 'ns': 1})
    return x + x
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def measured(file: Path, code: str | None, each: int = 1, largest: int = 600, perf: str = PERF) -> dict:
    """`perf`: the benchmark's file that measures, or none."""
    name = file.with_name(f"{abs(hash(perf))}_perf.py")
    if perf:
        name.write_text(perf)
    sizes = {"file": str(name), "each": each, "largest": largest}
    return request("measure", file, code=code, sizes=sizes)


def test_a_script_is_timed_beside_the_golden_one(file: Path) -> None:
    spies = "import os\nassert not os.listdir('../golden'), os.listdir('../golden')\n"
    itself, other = asked(measured(file, None, each=2), measured(file, spies + TORCH))
    assert itself["places"] == [0, 3] and itself["untimed"] == ""
    assert itself["left_out"] == "36 of 40 sizes, whose arguments take more than 600 bytes"
    assert [one["size"] for one in itself["measured"]] == ["[16], [4]", "[128], [4]"]
    for one in [*itself["measured"], *other["measured"]]:
        assert (one["golden_fails"], one["reason"]) == ("", ""), one
        assert one["rounds"] >= 5 and one["golden_ms"] > 0 and one["ms"] > 0
        work = 1024 * int(one["size"][1:].split("]")[0])
        assert one["gbps"] == pytest.approx([work / one["golden_ms"], work / one["ms"]])
        assert one["tflops"] == [None, None], "what is no number is none"
    assert other["places"] == [3], "the largest of them"
    assert not (file.parent / "work/golden").exists()


def test_what_is_not_right_at_a_size_has_no_time(file: Path) -> None:
    codes = {
        "the result, leaf 0": TORCH.replace("x + x", "x + 7"),
        "NameError: name 'y' is not defined": TORCH.replace("x + x", "y"),
        "NameError: name 'double' is not defined": "one = 1\n",
        "it ended": "import os\ndef double(x):\n    os._exit(0)\n",
        "the arguments written to: [0, 1] instead of [1]": TORCH.replace("x + x", "x.mul_(2)"),
        "elements differ": LATER,
        "clock-mismatch": TELLS_LITTLE,
        "it ended, or speaks unasked|the result is missing": SPEAKS,  # as its words come before or after they are asked for
    }
    verdicts = asked(*[measured(file, code) for code in codes.values()])
    for words, verdict in zip(codes, verdicts, strict=True):
        [one] = verdict["measured"]
        assert (
            any(word in one["reason"] for word in words.split("|")) and not one["golden_fails"] and one["gbps"] is None
        ), (words, one)


def test_sizes_at_which_nothing_can_be_held_to_the_golden_code_are_named(file: Path) -> None:
    asking, words = [], []
    for text, wanted in (
        (
            PERF.replace("return out.sum()", "import os; return os.urandom(8)[0] * 256 + os.urandom(8)[1]"),
            "it differs from itself",
        ),
        (PERF.replace("out[:2] = double(x)[:2]\n        return out.sum()", "double(x)"), "nothing that could be right"),
        (PERF.replace("out.sum()", "1 / 0"), "ZeroDivisionError"),
    ):
        asking.append(measured(file, TORCH, perf=text))
        words.append(wanted)
    for wanted, verdict in zip(words, asked(*asking), strict=True):
        [one] = verdict["measured"]
        assert wanted in one["golden_fails"] and one["ms"] is None and not one["reason"], one


def test_tasks_without_sizes_are_named(file: Path) -> None:
    unlisted, nothing, missing = asked(
        measured(file, None, perf=PERF.replace("range(4, 44)", "nowhere")),
        measured(file, None, largest=3),
        measured(file, None, perf=""),
    )
    assert unlisted["untimed"] == "its sizes cannot be listed: NameError: name 'nowhere' is not defined"
    assert nothing["untimed"] == "no size fits" and nothing["left_out"].startswith("40 of 40 sizes")
    assert "no such file" in missing["untimed"] and missing["measured"] == []


def test_sizes_are_chosen_by_what_their_arguments_take() -> None:
    listed = {"bytes": [8, 4, 99, 2], "limit": 50}
    assert places_of(listed, 2, 0)["places"] == [3, 0] and places_of(listed, 1, 7)["places"] == [1]
    assert places_of(listed, 9, 1000) == {"places": [3, 1, 0, 2], "left_out": "", "untimed": ""}


def test_a_clock_may_stay_behind_by_what_an_honest_one_varies() -> None:
    assert apart([0.1, 0.1, 0.2], [0.25, 0.3, 0.25], 1.0) == ""
    assert apart([0.1, 0.1, 0.2], [0.35, 0.4, 0.35], 1.0).startswith("clock-mismatch: its calls last 0.250 ms longer")
    assert apart([0.1, 0.1, 0.2], [0.35, 0.4, 0.35], 10.0) == "", "a tenth of its time"
    assert apart([0.1, 0.4, 0.8], [0.9, 1.0, 0.9], 1.0) == "", "the machine is busy"


def test_memory_without_values_holds_zeros() -> None:
    with Filled():
        made = [torch.empty(1000), torch.empty_like(torch.ones(1000)), torch.ones(2).new_empty(1000)]
        assert torch.ones(3).sum() == 3
    assert all(int(one.count_nonzero()) == 0 for one in made)


def test_floats_of_eight_bits_are_compared() -> None:
    one = torch.arange(4.0).to(torch.float8_e4m3fn)
    assert difference_of_leaf(one, one.clone()) == ""
    assert "1 of 4 elements differ" in difference_of_leaf(one, torch.tensor([0.0, 1, 2, 4]).to(one.dtype))
