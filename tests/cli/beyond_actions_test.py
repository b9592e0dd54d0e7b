"""A task that no action reaches is what a language model is asked for, alone and behind the builtin coder."""

from __future__ import annotations

import pytest
from scripted_world import World

TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sort(x, dim=-1)[0]


def get_inputs():
    return [torch.randn(64, 64)]
"""


def model(result: str) -> dict[str, str]:
    return {
        "answer": "```python\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
        f"        return {result}\n```\n"
    }


@pytest.mark.parametrize("coder", ["llm", "builtin,llm"])
def test_the_model_is_asked_and_the_search_goes_on(world: World, coder: str) -> None:
    (world.folder / "sorted.py").write_text(TASK)
    world.play(model("x + 1"), model("torch.topk(x, x.shape[-1], largest=False)[0]"), model("torch.msort(x)"))
    words = (world.folder / "sorted.py", "--coder", coder, "--target", "cpu", "--evaluations", 3, "--repairs", 1)
    code, said = world.optimize(*words, "--baselines", "graph")
    assert code in (0, 1), said
    start, wrong, mended, *more = world.attempts()
    assert wrong[0] == "lower %1 %2" and wrong[1].startswith("llm:scripted") and wrong[2] == "wrong-result", said
    assert mended[0] == "repair" and mended[1].startswith("llm:scripted"), said
    first = world.server.requests[0]["body"]["messages"][-1]["content"]
    assert "lower sort in line" in first and "# Kernel code" in first
    assert len(world.server.requests) >= 2 and start[1] == "start" and all(one[1] for one in more)
