"""The traced graph is compared with eager."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from mtmc.task.task import load_task
from mtmc.trace import check as trace_check
from mtmc.trace.check import check_against_eager
from mtmc.trace.composites import decompositions
from mtmc.trace.layout import made_contiguous, ordered_by_chance
from mtmc.wire.task_error import TaskError
from traced_modules import module_text
from tracing import traced


@pytest.mark.parametrize(
    ("forward", "init", "calls"),
    [
        ("return torch.relu(x)", "", 2),
        ("return torch.dropout(x, 0.5, True)", "", 4),
        ("self.seen.add_(1)\nreturn x * self.seen", "self.register_buffer('seen', torch.ones(1))", 4),
    ],
)
def test_a_graph_is_run_again_when_that_can_say_more(tmp_path: Path, forward: str, init: str, calls: int) -> None:
    file = tmp_path / "module.py"
    file.write_text(module_text(forward, init))
    task = load_task({"name": "module", "file": str(file), "attr": "Model"})
    eager, copy = task.make_model(0), task.make_model(0)
    called = []

    def traced_graph(*arguments: Any) -> Any:
        called.append(arguments)
        return copy(*arguments)

    check_against_eager(task, eager, traced_graph, copy.state_dict)
    assert len(called) == calls


def test_what_only_a_gpu_can_do_is_left_to_the_judge(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(module_text("return torch.linalg.lu(x[:, :4], pivot=False)[2]"))
    task = load_task({"name": "module", "file": str(file), "attr": "Model"})
    assert check_against_eager(task, task.make_model(0), lambda *_: 1 / 0, dict) is None
    file = tmp_path / "refuses.py"
    file.write_text(module_text("raise RuntimeError('no')"))
    task = load_task({"name": "module", "file": str(file), "attr": "Model"})
    with pytest.raises(TaskError) as caught:
        check_against_eager(task, task.make_model(0), lambda *_: 1 / 0, dict)
    assert caught.value.message() == "running Model under torch.no_grad(): RuntimeError: no"


def test_what_takes_long_is_left_to_the_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "module.py"
    file.write_text(module_text("return torch.relu(x)", ""))
    task = load_task({"name": "module", "file": str(file), "attr": "Model"})
    eager = task.make_model(0)

    def wrong(x: torch.Tensor) -> torch.Tensor:
        return x - 1

    with pytest.raises(TaskError, match="disagree"):
        check_against_eager(task, eager, wrong, dict)
    calls = []
    right = lambda x: calls.append(x) or torch.relu(x)  # noqa: E731
    assert check_against_eager(task, eager, right, dict) == set() and len(calls) > 1
    calls.clear()
    monkeypatch.setattr(trace_check, "MOST_SECONDS", -1.0)
    assert check_against_eager(task, eager, right, dict) == set() and len(calls) == 1
    monkeypatch.setattr(trace_check, "CHEAP_SECONDS", -1.0)
    assert check_against_eager(task, eager, wrong, dict) is None


def test_a_graph_that_fails_without_words_is_told_by_the_error_s_name(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(module_text("return torch.relu(x)"))
    task = load_task({"name": "module", "file": str(file), "attr": "Model"})

    def failing(*_: Any) -> Any:
        raise AssertionError

    with pytest.raises(TaskError, match="fails on a fresh draw of the inputs: got AssertionError"):
        check_against_eager(task, task.make_model(0), failing, dict)


def test_results_that_eager_lays_out_in_order_are_put_in_order(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(module_text("return x + 1, (x.t() * 2).t()", ""))
    task = load_task({"name": "module", "file": str(file), "attr": "Model"})

    def otherwise(x: torch.Tensor) -> Any:
        return (x.t() + 1).contiguous().t(), (x.t() * 2).t()

    assert check_against_eager(task, task.make_model(0), otherwise, dict) == {0}
    assert made_contiguous("({0}, [{1}, {0}])", {0, 2}) == "({0}.contiguous(), [{1}, {0}.contiguous()])"


@pytest.mark.parametrize(
    ("forward", "places"),
    [
        ("y = x.t() * 2\nreturn y.t(), y", {0}),  # eager keeps the order of the axes; kernels of ours write rows
        ("y = x.t().contiguous() * 2\nreturn y.t(), x.t()", set()),
        ("return F.relu(x.t().contiguous()), x.t().contiguous() @ x, x.relu()", {0}),  # a Program has no copies
        ("y = (x.t() * 2).reshape(2, 4, 4)\nreturn y.permute(2, 0, 1).flatten(1)", {0}),
        ("y = x.t() * 2\nreturn y.t().reshape(32)", set()),  # by then a copy, in the order of rows
        ("return x.sum(0, keepdim=True).t().squeeze(1)", set()),  # one axis of one element: any order is its own
    ],
)
def test_views_that_are_in_order_by_chance(tmp_path: Path, forward: str, places: set[int]) -> None:
    file = tmp_path / "module.py"
    file.write_text(module_text(forward, ""))
    task = load_task({"name": "module", "file": str(file), "attr": "Model"})
    exported = torch.export.export(task.make_model(0), tuple(task.make_inputs(0)))
    assert ordered_by_chance(exported.run_decompositions(decompositions())) == places


def test_results_are_compared_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_check, "PIECE", 7)
    theirs = torch.arange(1.0, 31.0).view(5, 6).t()
    for wrong, why in (
        (theirs + 1e-9, ""),
        (theirs * (1 + 1e-5), "relative error 1e-05"),
        (theirs.double(), "another type"),
    ):
        assert trace_check.difference(wrong, theirs).startswith(why) and bool(
            trace_check.difference(wrong, theirs)
        ) == bool(why)
    lost, alike = theirs.clone(), theirs.clone()
    lost[5, 4], alike[5, 4] = math.nan, math.nan
    assert trace_check.difference(lost, theirs) == "other NaN or infinite elements"
    assert trace_check.difference(alike * (1 + 1e-9), lost) == ""


def test_what_the_file_remembers_is_no_tensor_of_the_tracer(tmp_path: Path) -> None:
    text = module_text("if 8 not in KEPT: KEPT[8] = places(8) * 2\nreturn x + places(8) + KEPT[8]")
    text = (
        "import functools\n"
        + text
        + "\nKEPT = {}\n@functools.lru_cache\ndef places(n):\n    return torch.arange(float(n))\n"
    )
    assert traced(tmp_path, text)["checked"]
