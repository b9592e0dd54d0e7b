"""Several questions of one search under way at once, through the program: they overlap, and nothing is lost or asked twice."""

from __future__ import annotations

import json
from typing import Any

from scripted_world import World

MODEL = (
    "```python\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
    "        return torch.softmax(torch.relu(x * 2) + 1, -1) + {}\n```\n"
)


def answers(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"answer": MODEL.format(i), **more} for i in range(1, count + 1)]


def words(world: World, *more: object) -> tuple[object, ...]:
    how = ("--coder", "llm", "--target", "null", "--strategy", "tree", "--repairs", 0, "--time", 300)
    return ("optimize", world.folder / "small.py", *how, *more)


def test_the_server_sees_them_at_the_same_time(world: World) -> None:
    world.play(*answers(5, together=3))
    command = words(world, "--questions", 3, "--evaluations", 5)
    _, said = world.end(world.begin(*command))
    assert world.server.most_at_once == 3 and len(world.server.requests) == 5, said
    first = world.attempts()
    assert len(first) == 6
    _, said = world.end(world.begin(*command))
    assert len(world.server.requests) == 5, "what was asked before costs nothing"
    assert world.attempts() == first and world.runs() == 2
    assert json.loads((world.folder / "out/result.json").read_text())["account"]["remembered"] == 5


def test_an_interrupt_while_several_are_under_way_loses_nothing(world: World) -> None:
    world.play(*answers(4), {"silent": True})
    command = words(world, "--questions", 4, "--evaluations", 8)
    code, said = world.interrupt(world.begin(*command), 8)  # four answers are judged by then
    assert code == 130 and "stopped: interrupted" in said, said
    kept = world.attempts()
    assert len(kept) >= 4
    world.server.plays = answers(16)[4:]
    _, said = world.end(world.begin(*command))
    assert len(world.server.requests) == 8 + 4, said
    assert len(world.attempts()) == 9 and world.attempts()[: len(kept)] == kept and world.runs() == 1
    account = json.loads((world.folder / "out/result.json").read_text())["account"]
    assert account["requests"] == 12, "those that were interrupted are on the bill"


def test_time_ends_them_all(world: World) -> None:
    world.play({"silent": True})
    code, said = world.end(world.begin(*words(world, "--questions", 3, "--time", 4)))
    assert code == 1 and "the model gave nothing to judge: asking scripted: the server did not answer in time" in said
    assert len(world.server.requests) == 3, said
