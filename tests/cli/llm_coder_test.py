"""Coders that ask a language model, from a task to a certified kernel: a server on this machine plays the model."""

from __future__ import annotations

import json

from prompt_test import prompt, sent
from scripted_world import ANSWERS, World, answer


def test_an_exploit_is_refused_and_repaired(world: World) -> None:
    repair = answer("distance_repair")["answer"]
    world.play(answer("distance_exploit"), {"answer": repair[:700], "finish": "length"}, {"answer": repair[700:]})
    words = (ANSWERS / "distance.py", "--coder", "llm", "--target", "cpu", "--evaluations", 2, "--baselines", "graph")
    code, said = world.optimize(*words)
    assert code == 0, said
    (start, exploit, mended) = world.attempts()
    assert exploit[0].startswith("fuse") and exploit[1] == "llm:scripted" and exploit[2] != "", exploit
    assert mended == ("repair", "llm:scripted", "")
    questions = [request["body"]["messages"] for request in world.server.requests]
    assert [len(messages) for messages in questions] == [2, 2, 4]
    assert exploit[2] in questions[1][1]["content"] and "# Verdict" in questions[1][1]["content"]
    assert prompt(world, "--node", 2, "--do", "repair") == sent(world, 1), (
        "`mtmc prompt` has the verdict from the store"
    )
    paper = prompt(world, "--node", 2, "--do", "repair", "--prompt", "paper")
    assert "----- system" not in paper and "# Verdict" not in paper
    assert "asked the language model: 3 requests, 300 + 60 tokens, $0.0004" in said
    result = json.loads((world.folder / "out/result.json").read_text())
    assert result["certified"] and result["account"]["requests"] == 3


def test_steps_lead_to_a_faster_kernel_until_the_money_is_spent(world: World) -> None:
    world.play(answer("outer_fuse", usage=[5_000_000, 1]), answer("outer_reorder", usage=[5_000_000, 1]))
    words = ("--coder", "llm", "--target", "cpu", "--max-cost", 10.005, "--baselines", "graph", "--prompt", "paper")
    code, said = world.optimize(ANSWERS / "outer.py", *words)
    assert code == 0, said
    assert len(world.server.requests) == 2
    assert "the model gave up: asking the language model: this request could pass the cost limit" in said
    assert [attempt[2] for attempt in world.attempts()] == ["", "", ""]
    assert "for (long k = 0; k < inner; ++k)\n      for (long j" in (world.folder / "out/kernel.py").read_text()


def test_an_interrupt_during_a_request_loses_nothing(world: World) -> None:
    world.play({"silent": True})
    process = world.start(world.folder / "small.py", "--coder", "llm", "--target", "null")
    code, said = world.interrupt(process, 1)
    assert code == 130 and "stopped: interrupted; 1 attempt is kept" in said, said
    assert len(world.attempts()) == 1
