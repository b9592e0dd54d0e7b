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


def test_a_compiler_error_is_seen_and_mended_before_the_one_judgement(world: World) -> None:
    right = answer("distance_repair")["answer"].replace("check=True", "check=True, capture_output=True")
    assert "part[u] += apart * apart;" in right and "capture_output" in right
    broken = right.replace("part[u] += apart * apart;", "part[u] += apart * apart")
    world.play(
        {"answer": broken + "\ncompile:"},
        {"answer": right + "\ncompile:"},
        *({"answer": "judge:"}, {"answer": "submit:"}, {"answer": "submit:"}),
    )
    words = (ANSWERS / "distance.py", "--coder", "agent", "--target", "cpu", "--steps", 1, "--baselines", "graph")
    code, said = world.optimize(*words, "--evaluations", 2, "--agent-judgements", 1)
    assert code in (0, 1), said
    _, judged = world.attempts()
    assert judged[0].startswith("rewrite:draft_") and judged[2] == "", "what does not compile is no attempt"
    heard = told(world)
    assert len(heard) == 5
    assert "compile-error: " in heard[1] and "error: expected" in heard[1]
    assert "It compiles" in heard[2] and "0 more drafts can be judged" in heard[3]


def test_evolution_goes_on_after_an_interrupt_whatever_it_learned(world: World) -> None:
    """What the first conversation learned does not make another run of the same command, with a budget of its own."""
    right = answer("distance_repair")["answer"]
    knowledge = world.folder / "notes"
    knowledge.mkdir()
    last = ({"answer": "submit:"}, {"answer": "submit:"})
    world.play(
        *({"answer": "learn: Distances | Sums of squares need no root in between."}, {"answer": right}, *last),
        {"silent": True},
        *({"answer": right.replace("import torch\n", "import torch\n\n# Once more.\n")}, *last),
    )
    words: tuple[object, ...] = ("--coder", "agent", "--strategy", "evolve", "--target", "cpu", "--evaluations", 2)
    words = ("optimize", ANSWERS / "distance.py", *words, "--baselines", "graph", "--knowledge", knowledge)
    process = world.begin(*words, "--time", 300)
    code, said = world.interrupt(process, 5, 200)
    assert code == 130 and "stopped: interrupted; 2 attempts are kept" in said, said
    assert len(list(knowledge.glob("learned-*.md"))) == 1
    code, said = world.end(world.begin(*words, "--time", 300))
    assert code in (0, 1), said
    assert world.runs() == 1, "it is the run that was cut off"
    assert [attempt[1:] for attempt in world.attempts()[1:]] == [("agent:scripted", "")] * 2
    asked = told(world)
    assert len(asked) == 8 and asked[5] == asked[4], "the first conversation was not had again"
    result = json.loads((world.folder / "out/result.json").read_text())
    assert result["certified"] and result["evaluations"] == 2
