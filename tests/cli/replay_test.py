"""What a language model wrote is made again from the store alone: the answers that it came from are kept by name."""

from __future__ import annotations

from scripted_world import ANSWERS, World, answer

DIFF = """A sum instead of the product.

```diff
@@ @@
-        y = torch.softmax(torch.relu(x * 2) + 1, -1)
+        y = torch.softmax(torch.relu(x + x) + 1, -1)
```
"""
FILE = """```python
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.softmax(torch.relu(x * 2) + 1, -1)
        return y
```
"""


def answer_of(world: World, run: int = 1) -> str:
    code, said = world.look("replay", run)
    assert code == 0, said
    return said


def test_answers_of_several_parts_and_repairs_are_put_together_again(world: World) -> None:
    repair = answer("distance_repair")["answer"]
    world.play(answer("distance_exploit"), {"answer": repair[:700], "finish": "length"}, {"answer": repair[700:]})
    words = (ANSWERS / "distance.py", "--coder", "llm", "--target", "cpu", "--evaluations", 2, "--baselines", "graph")
    code, said = world.optimize(*words)
    assert code == 0, said
    world.stop()
    assert answer_of(world).splitlines() == [
        "1 of 1 attempts print the same bytes",
        "2 of 2 attempts without a Program are what their model's answers hold",
    ]
    out = world.folder / "again.py"
    code, said = world.look("replay", 1, "--node", 3, "--out", out)
    assert code == 0 and "that its model's answers hold" in said, said
    assert out.read_text() == (world.folder / "out/kernel.py").read_text()


def test_what_the_store_holds_no_more_or_otherwise_is_said(world: World) -> None:
    world.play({"answer": FILE}, {"answer": "no code"}, {"answer": DIFF})
    code, said = world.optimize(world.folder / "small.py", "--coder", "llm", "--target", "null", "--evaluations", 2)
    assert len(world.server.requests) == 3, said
    world.stop()
    assert "2 of 2 attempts without a Program" in answer_of(world)
    world.change("UPDATE cache SET value = replace(value, 'x + x', 'x + x + 0') WHERE kind = 'exchange'")
    code, said = world.look("replay", 1)
    assert code == 1 and "1 of 2 attempts without a Program" in said, said
    assert "attempt 3 (" in said and "+        y = torch.softmax(torch.relu(x + x + 0) + 1, -1)" in said, said
    world.change("DELETE FROM cache WHERE kind = 'exchange'")
    code, said = world.look("replay", 1)
    cannot = "2 attempts cannot be made again (2 with answers that the store lacks): 2 have the code that was kept"
    assert code == 0 and cannot in said, said
    out = world.folder / "again.py"
    code, said = world.look("replay", 1, "--node", 3, "--out", out)
    assert (
        code == 0
        and "cannot be made again: it is with answers that the store lacks" in said
        and "x + x" in out.read_text()
    ), said


def test_the_agents_differences_apply_to_its_draft(world: World) -> None:
    world.play(
        {"answer": FILE + "\nedit:"},
        {"answer": DIFF + "\nnotes: how a file is shown is not a draft"},
        {"answer": DIFF + "\nedit:"},
        {"answer": "submit:"},
        {"answer": "submit:"},
    )
    words = ("--coder", "agent", "--target", "cpu", "--baselines", "graph", "--evaluations", 1, "--steps", 1)
    code, said = world.optimize(world.folder / "small.py", *words)
    assert len(world.server.requests) == 5, said
    world.stop()
    assert answer_of(world).splitlines() == [
        "1 of 1 attempts without a Program are what their model's answers hold",
        "1 attempts cannot be made again (1 the start, whose Program is not kept): 1 have the code that was kept",
    ]


def test_drafts_that_the_agent_had_judged_are_made_again(world: World) -> None:
    world.play(
        {"answer": FILE + "\njudge:"},
        {"answer": DIFF + "\ncompile:"},
        {"answer": "profile:"},
        {"answer": DIFF.replace("x + x", "2 * x").replace("x * 2", "x + x") + "\nedit:"},
        {"answer": "submit:"},
        {"answer": "submit:"},
    )
    words = ("--coder", "agent", "--target", "null", "--evaluations", 3, "--steps", 1, "--repairs", 0)
    _, said = world.optimize(world.folder / "small.py", *words)
    world.stop()
    assert [action.split(":")[-1][:6] for action, _, _ in world.attempts()] == ["", "draft_", "draft_", "rewrit"], said
    start = "1 attempts cannot be made again (1 the start, whose Program is not kept): 1 have the code that was kept"
    assert answer_of(world).splitlines() == [
        "3 of 3 attempts without a Program are what their model's answers hold",
        start,
    ]
    out = world.folder / "draft.py"
    code, said = world.look("replay", 1, "--node", 3, "--out", out)
    assert code == 0 and "x + x" in out.read_text(), said
    world.change("UPDATE nodes SET note = '' WHERE action LIKE '%draft%'")  # as earlier versions kept them
    code, said = world.look("replay", 1)
    assert code == 0 and "2 without the names of its model's answers" in said, said
