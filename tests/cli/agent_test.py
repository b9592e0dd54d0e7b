"""The agent from a task to a certified kernel: it looks things up, has its drafts judged and profiled, and learns."""

from __future__ import annotations

import json

from scripted_world import ANSWERS, World, answer


def told(world: World) -> list[str]:
    """The last message of each question."""
    return [request["body"]["messages"][-1]["content"] for request in world.server.requests]


def test_a_draft_is_judged_profiled_and_submitted_once(world: World) -> None:
    exploit, repair = answer("distance_exploit")["answer"], answer("distance_repair")["answer"]
    knowledge = world.folder / "notes"
    knowledge.mkdir()
    world.play(
        {"answer": "First I look around.\n\n**Notes:** threads of a processor"},
        {"answer": "**Lineage:**"},
        {"answer": exploit + "\n**Judge:**"},
        {"answer": repair + "\nJudge:"},
        {"answer": "- **Profile:**"},
        {"answer": "**learn:** Distances | Sums of squares need no root in between."},
        {"answer": "**Submit:**"},
        {"answer": "I found no mistake.\n\n**submit:**"},
    )
    words: tuple[object, ...] = ("--coder", "agent", "--target", "cpu", "--evaluations", 3, "--steps", 1)
    words = (ANSWERS / "distance.py", *words, "--baselines", "graph", "--knowledge", knowledge)
    code, said = world.optimize(*words, "--agent-turns", 9)
    assert code == 0, said
    start, refused, right = world.attempts()
    assert refused[0].startswith("rewrite:draft_") and refused[2] != "", "the exploit was found before it was submitted"
    assert right[0].startswith("rewrite:draft_") and right[1:] == ("agent:scripted turns=9", "")
    heard = told(world)
    assert len(heard) == 8
    assert "## " in heard[1] and "0. the module as it is: " in heard[2]
    assert refused[2] in heard[3] and "2 more drafts can be judged" in heard[3]
    assert "times as fast as eager" in heard[4] and "1 more drafts can be judged" in heard[4]
    assert "Its own kernels take" in heard[5] and "outside of torch's operators" in heard[5]
    assert "It is kept" in heard[6] and "look for mistakes" in heard[7]
    (learned,) = knowledge.glob("learned-*.md")
    assert "no root in between" in learned.read_text()
    result = json.loads((world.folder / "out/result.json").read_text())
    assert result["certified"] and result["evaluations"] == 2 and result["account"]["requests"] == 8
    # The store answers the same search: nobody can be asked any more, and the notes are what they were.
    world.stop()
    learned.unlink()
    (world.folder / "out/kernel.py").unlink()
    again, said = world.optimize(*words, "--agent-turns", 9)
    assert again == 0 and "asked the language model: 0 requests" in said, said
    assert (world.folder / "out/kernel.py").is_file()
