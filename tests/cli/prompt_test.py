"""`mtmc prompt` prints what a search sends: the first request of each coder, and that of a next step. (That of a
repair is in llm_coder_test.py, where a candidate is refused.)"""

from __future__ import annotations

from typing import Any

import pytest
from scripted_world import World

FILE = """```python
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x * 2)
        return torch.softmax(y + 1, -1)
```
"""
OTHER = FILE.replace("x * 2", "x + x")


def sent(world: World, number: int) -> str:
    """A request as `prompt` prints it."""
    messages = world.server.requests[number]["body"]["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    return f"----- system -----\n{messages[0]['content']}\n----- user -----\n{messages[1]['content']}"


def action_of(question: str) -> str:
    return question.split("# Action\n\n")[1].partition("\n")[0]


def prompt(world: World, *words: object) -> str:
    code, said = world.look("prompt", *words)
    assert code == 0, said
    return said


@pytest.mark.parametrize("coder", ["llm", "agent", "free", "single_pass"])
def test_the_first_question_is_what_the_server_gets(coder: str, world: World) -> None:
    plays: list[dict[str, Any]] = [{"answer": FILE + "\nedit:"}, {"answer": OTHER + "\nedit:"}]
    world.play(*plays, {"answer": "submit:"})
    # What has no Program is refused for the target null: the second question would be a repair.
    words = (world.folder / "small.py", "--coder", coder, "--target", "cpu" if coder == "llm" else "null")
    code, said = world.optimize(*words, "--evaluations", 2, "--baselines", "graph")
    first = sent(world, 0)
    assert prompt(world, *words, "--do", action_of(first)) == first, said
    if coder != "llm":  # it chooses itself
        assert prompt(world, *words) == first
        return
    second = sent(world, 1)
    assert "y = torch.relu(x * 2)" in second
    assert prompt(world, "--node", 2, "--do", action_of(second)) == second
    code, said = world.look("prompt", "--node", 2, "--do", "repair")
    assert code == 2 and "nothing that this coder could repair" in said
    code, said = world.look("prompt", "--node", 2, "--do", "rewrite")
    assert code == 2 and "not on offer here" in said and "'fuse " in said


def test_it_is_of_one_state(world: World) -> None:
    for words in ((), (world.folder / "small.py", "--node", 1)):
        code, said = world.look("prompt", *words)
        assert code == 2 and "FILE or --node N" in said, said
