"""The trace holds what the module does in eager, also where its code asks whether it is traced or what a constant holds."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.task.task import TaskError, load_task
from mtmc.trace.trace import trace


def operators(folder: Path, *lines: str) -> list[str]:
    """Those of a module whose forward has these lines."""
    body = "\n".join(f"        {line}" for line in lines)
    text = f"import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n{body}\n"
    path = folder / f"m{len(list(folder.iterdir()))}.py"
    path.write_text(text + "def get_inputs():\n    return [torch.randn(4, 8)]\n")
    data = trace(load_task({"name": "m", "file": str(path)}))
    return [node["op"].removeprefix("aten.") for node in data["nodes"]]


@pytest.mark.parametrize("question", ["is_compiling", "is_exporting", "is_dynamo_compiling"])
def test_who_asks_is_told_that_nothing_is_traced(tmp_path: Path, question: str) -> None:
    found = operators(tmp_path, f"return x.sin() if torch.compiler.{question}() else x.cos()")
    assert found == ["cos.default"]
    assert not getattr(torch.compiler, question)()


def test_torch_hears_the_truth_where_nothing_else_traces(tmp_path: Path) -> None:
    lines = "if not torch.compiler.is_compiling() and bool(x.isinf().any()):", "    return x.sin()", "return x.cos()"
    assert operators(tmp_path, *lines) == ["cos.default"]


def test_a_refusal_says_how_both_attempts_failed(tmp_path: Path) -> None:
    lines = (
        "if torch.compiler.is_exporting():",
        "    raise ValueError('not here')",
        "return x.sin() if x.sum() > 0 else x",
    )
    with pytest.raises(TaskError, match=r"trace it: ValueError: not here \(and, .* traces it: forward branches"):
        operators(tmp_path, *lines)


def test_a_branch_on_what_the_code_alone_decides(tmp_path: Path) -> None:
    lines = "steps = torch.arange(x.shape[1], device=x.device)[None].expand(4, -1).diff()"
    assert operators(tmp_path, lines, "return x.sin() if (steps == 1).all() else x.cos()") == ["sin.default"]
    assert operators(tmp_path, "return x * int(torch.ones_like(x).sum())") == ["mul.Tensor"]


@pytest.mark.parametrize(
    "made",
    [
        "p = x.sum()",
        "p = torch.rand(())",
        "p = torch.zeros(()); p += x.sum()",
        "p = torch.zeros(3); p[0] = x[0, 0]; p = p.sum()",
        "p = torch.zeros(3); q = p[:1]; q.add_(x[0, 0]); p = p.sum()",
        "p = torch.zeros(()); torch.add(p, x.sum(), out=p)",
    ],
)
def test_a_branch_on_anything_else_is_refused(tmp_path: Path, made: str) -> None:
    with pytest.raises(TaskError, match="no branch"):
        operators(tmp_path, made, "return x.sin() if p > 0 else x.cos()")


def test_views_are_reshapes_since_results_lie_otherwise_elsewhere(tmp_path: Path) -> None:
    assert operators(tmp_path, "return (x + 1).view(8, 4)") == ["add.Tensor", "reshape.default"]
