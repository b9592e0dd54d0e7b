"""TritonBench's task files, the strict comparison, and factors by reconstruction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from mtmc.tritonbench.compare import difference
from mtmc.tritonbench.decisions import Decisions
from mtmc.tritonbench.dispatch import Kernels, shown_call
from mtmc.tritonbench.reconstruct import RECONSTRUCTED, reconstructed
from mtmc.tritonbench.record import Recorder
from mtmc.tritonbench.replay import Case
from mtmc.tritonbench.task_file import SEPARATOR, on_cpu, read_task_file
from mtmc.wire.task_error import TaskError


def calls_of(function, *calls):
    recorder = Recorder()
    recorded = recorder.of(function)
    for arguments in calls:
        recorded(*arguments)
    return [call.to_plain() for call in recorder.calls]


def test_a_task_file_has_two_halves(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(f"def helper():\n    pass\n\ndef f(x):\n    return x\n{SEPARATOR}\nf(1)\n")
    task = read_task_file(file)
    assert (task.function, task.tests) == ("f", "\nf(1)\n")
    for text, wanted in (
        (f"def f(x):\n    return x\n#{SEPARATOR}\nf(1)\n", "0 separators, wanted one line of 146 #"),
        (f"def f(:\n{SEPARATOR}\n", "the golden code is no Python"),
        (f"x = 1\n{SEPARATOR}\n", "the golden code defines no function"),
    ):
        file.write_text(text)
        with pytest.raises(TaskError, match=wanted):
            read_task_file(file)


def test_a_gpu_is_replaced_where_there_is_none() -> None:
    assert on_cpu("a = x.cuda(); b = torch.ones(1, device='cuda:0'); c = \"cuda\"; cuda = 'no cuda'") == (
        "a = x.cpu(); b = torch.ones(1, device='cpu'); c = \"cpu\"; cuda = 'no cuda'"
    )
    assert on_cpu("torch.cuda.synchronize()") == "torch.cpu.synchronize()"


def test_a_case_is_told_by_types_and_values() -> None:
    a = {"x": [torch.zeros(2, 3), torch.zeros(1, dtype=torch.bool)], "p": 0.5, "device": torch.device("cpu"), "o": None}
    assert shown_call(a) == "x=list(float32[2, 3], bool[1]), p=0.5, device=a device, o=None"
    assert shown_call({"n": 1}) != shown_call({"n": 1.0}) != shown_call({"n": True})


def test_leaves_are_compared_by_type_and_value() -> None:
    x = torch.ones(3)
    wanted = calls_of(lambda x: {"y": x * 2, "n": 1}, (x,))
    assert difference(wanted, calls_of(lambda x: {"y": x * 2.00001, "n": 1}, (x,))) == ""
    for other, text in (
        (lambda x: {"y": x * 2.1, "n": 1}, r"leaf 0: 3 of 3 elements differ"),
        (lambda x: {"y": (x * 2).double(), "n": 1}, r"torch.float64 \[3\] instead of torch.float32 \[3\]"),
        (lambda x: {"y": x * 2, "n": 2}, r"leaf 1: 2 instead of 1"),
        (lambda x: (x * 2, 1), r"the result's structure"),
        (lambda x: {"y": x.mul_(2), "n": 1}, r"the arguments written to: \[0\] instead of \[\]"),
    ):
        found = difference(wanted, calls_of(other, (x.clone(),)))
        assert found.startswith("call 1 (x=float32[3]): ") and re.search(text, found), found
    assert difference(wanted, []) == "it was called 0 times, the golden code 1 times"


def test_what_moves_without_a_version_is_seen() -> None:
    def moves(x):
        x.numpy()[:] = 5
        return x

    (call,) = calls_of(moves, (torch.zeros(2),))
    assert call["changed"] == [0] and call["returns"] == 0


def test_branches_on_values_are_taken_as_given() -> None:
    def f(x):
        return x if (x > 0).all() and torch.allclose(x, x) else -x

    with Decisions() as seen:
        f(torch.ones(2)), f(-torch.ones(2))
    assert seen.taken == [True, True, False]
    with Decisions([True, True]) as given:
        result = f(torch.tensor([-1.0]))
    assert result[0] == -1
    assert [bool(condition) for condition in given.conditions] == [False, True]


@pytest.mark.parametrize("name", sorted(RECONSTRUCTED))
def test_factors_are_right_when_their_product_is(name: str) -> None:
    torch.manual_seed(0)
    a = torch.randn(4, 4, dtype=torch.float64)
    a = a + a.T
    factor = {
        "svd": lambda a: tuple(torch.linalg.svd(a)),
        "eig": lambda a: tuple(torch.linalg.eig(a)),
        "qr": lambda a: tuple(torch.linalg.qr(a)),
        "lu": lambda a: tuple(torch.linalg.lu(a)),
        "ldl_factor": lambda a: tuple(torch.linalg.ldl_factor(a)),
    }[name]
    right = calls_of(factor, (a,))
    assert reconstructed(name, right) == ""
    if name in ("svd", "qr"):  # the other signs are right, too
        assert reconstructed(name, [right[0] | {"leaves": flipped(right[0]["leaves"])}]) == ""
    wrong = right[0] | {"leaves": [leaf if leaf.dtype is torch.int32 else leaf * 1.1 for leaf in right[0]["leaves"]]}
    assert "does not hold" in reconstructed(name, [wrong])


def test_hermitian_factors_are_solved_with_as_such() -> None:
    a = torch.tensor([[2.0, 1.0j], [-1.0j, 2.0]])
    calls = calls_of(lambda a: tuple(torch.linalg.ldl_factor(a, hermitian=True)), (a,))
    assert reconstructed("ldl_factor", calls) == ""


def flipped(leaves):
    return [-leaves[0], *leaves[1:-1], -leaves[-1]]


def test_arguments_of_the_host_go_to_where_the_kernel_runs(tmp_path: Path) -> None:
    """`meta` stands for a GPU: what is returned says where the arguments were."""
    file = tmp_path / "kernel.py"
    file.write_text(
        "import torch\n_DEVICE = 'meta'\nclass ModelNew(torch.nn.Module):\n"
        "    def forward(self, x):\n        return torch.tensor([float(x.is_meta)])\n"
    )
    case = {"kernel": str(file), "changed": [], "returns": None, "complex": [], "decisions": []}
    kernels = Kernels("f", {"x=float32[2]": [case]}, {})
    assert kernels({"x": torch.ones(2)}).tolist() == [1.0]
    file.write_text(file.read_text().replace("(self, x)", "(self, x, *others)"))
    both = Kernels("f", {"y=float32[], x=float32[2]": [case]}, {})  # a number of the host beside what lies on the GPU
    assert both({"y": torch.ones(()), "x": torch.ones(2, device="meta")}).tolist() == [0.0], "nothing is moved"
    file.write_text(file.read_text().replace("'meta'", "'cpu'"))
    assert Kernels("f", {"x=float32[2]": [case]}, {})({"x": torch.ones(2)}).tolist() == [0.0]


def test_a_case_makes_its_tensors_where_it_lies_whatever_device_the_tests_name() -> None:
    def spaced(steps: int, device: str, like: torch.Tensor | None = None) -> torch.Tensor:
        return torch.linspace(0, 1, steps, device=device)

    away = torch.device("meta")
    case = Case(spaced, "spaced", "spaced(3, device='cpu')", 0, [], None, [])
    assert case.compute().tolist() == [0.0, 0.5, 1.0]
    case.moved_by(lambda tensor: tensor.to(away))
    case.moved_by(lambda tensor: tensor.double())
    assert case.compute().device == away
    beside = "import torch\nspaced(3, torch.device('cpu'), torch.ones(2))"
    given = Case(spaced, "spaced", beside, 0, [], None, [])
    assert given.compute(torch.ones(2, device=away)).device == away


def test_earlier_calls_that_only_a_gpu_can_compute_are_passed_over() -> None:
    def solve(x: torch.Tensor, pivot: bool) -> torch.Tensor:
        return torch.linalg.lu(x, pivot=pivot)[2]

    tests = "import torch\nkept = [solve(torch.ones(2, 2), False), solve(2 * torch.ones(2, 2), True)]\n"
    case = Case(solve, "solve", tests, 1, [], None, [])
    assert case.draw()[0].tolist() == [[2.0, 2.0], [2.0, 2.0]] and case.given["pivot"] is True
