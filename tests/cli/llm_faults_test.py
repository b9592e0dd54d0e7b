"""What can go wrong with a language model, through the program: the exit code, the sentence, what is kept, and no key anywhere (the
fixture `world` looks for it)."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted_world import KEY, World

MODEL = (
    "```python\nimport torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
    "        return torch.softmax(torch.relu(x * 2) + 1, -1) + {}\n```\n"
)


def refusal(status: int, message: str, **more: Any) -> dict[str, Any]:
    return {"status": status, "body": {"error": {"message": message, **more}}}


@dataclass
class Fault:
    """`code` 2: a mistake of the user's, nothing was judged; 1: the search ended as usual."""

    plays: list[dict[str, Any]]
    says: str
    code: int = 2
    words: tuple[object, ...] = ()
    asked: int = 1


FAULTS = {
    "a wrong key": Fault(
        [refusal(401, f"Incorrect API key provided: {KEY}")],
        "the key is refused: got 401 Incorrect API key provided: [key]",
    ),
    "an unknown model": Fault(
        [refusal(400, "Model Not Exist", type="invalid_request_error")], "the server does not know the model"
    ),
    "no money": Fault(
        [refusal(429, "You exceeded your current quota", code="insufficient_quota")], "the account has no money left"
    ),
    "refused twice": Fault([refusal(400, "unsupported parameter")], "the server refuses the request: got 400", asked=2),
    "no network": Fault(
        [{"answer": ""}],
        "no connection to the server (3 attempts",
        words=("--base-url", "http://127.0.0.1:9/v1"),
        asked=0,
    ),
    "a prompt too long": Fault(
        [refusal(400, "This model's maximum context length is 8192 tokens")],
        "the prompt is too long for the model",
        code=1,
        words=("--steps", 1),
        asked=-1,
    ),
    "an empty answer": Fault(
        [{"answer": ""}],
        "the model gave nothing to judge: reading the answer: it is empty",
        code=1,
        words=("--repairs", 0, "--steps", 1),
        asked=-1,
    ),
    "another language": Fault(
        [{"answer": "```rust\nfn main() {}\n```\n"}],
        "not applied: reading the answer",
        code=1,
        words=("--repairs", 0, "--steps", 1),
        asked=-1,
    ),
    "a hang in the stream": Fault(
        [{"answer": MODEL.format(1), "hang_after": 90}],
        "the model gave nothing to judge: asking scripted: the server did not answer in time",
        code=1,
        words=("--time", 4),
    ),
    "silence": Fault(
        [{"silent": True}],
        "the model gave nothing to judge: asking scripted: the server did not answer in time",
        code=1,
        words=("--time", 4),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_is_told_and_nothing_is_lost(world: World, name: str) -> None:
    fault = FAULTS[name]
    world.play(*fault.plays)
    code, said = world.optimize(world.folder / "small.py", "--coder", "llm", "--target", "null", *fault.words)
    assert code == fault.code, said
    assert fault.says in said, said
    assert len(world.server.requests) == fault.asked if fault.asked >= 0 else world.server.requests, said
    assert world.attempts()[0] == ("", "start", "")
    assert world.runs() == 1


def test_a_limit_per_minute_is_waited_out(world: World) -> None:
    wait = refusal(
        429, "You exceeded your current quota, please check your plan and billing details. Please retry in 1.5s."
    )
    world.play(wait, {"answer": MODEL.format(1)})
    code, said = world.optimize(world.folder / "small.py", "--coder", "llm", "--target", "null", "--evaluations", 1)
    assert code == 1 and "asked the language model: 2 requests, 100 + 20 tokens" in said, said
    assert len(world.attempts()) == 2


def test_money_that_was_spent_before_an_interrupt_counts(world: World) -> None:
    """The account is kept before each request: what the interrupted one can have cost is on it, too."""
    dear = [1_000_000, 1000]
    world.play({"answer": MODEL.format(1), "usage": dear}, {"answer": MODEL.format(2), "usage": dear}, {"silent": True})
    words = ("--coder", "llm", "--target", "null", "--max-cost", 2.06, "--evaluations", 4)
    process = world.start(world.folder / "small.py", *words)
    code, said = world.interrupt(process, 3)
    assert code == 130 and "stopped: interrupted; 3 attempts are kept" in said, said
    code, said = world.optimize(world.folder / "small.py", *words)
    assert "the model gave up: asking the language model: this request could pass the cost limit: got $2.0" in said, (
        said
    )
    assert len(world.server.requests) == 3
    account = json.loads((world.folder / "out/result.json").read_text())["account"]
    assert account["requests"] == 3 and account["usd"] > 2.03 and account["unsure_usd"] < 0.06


def test_a_tracer_ends_with_whoever_asked_it(world: World) -> None:
    """Also one that tests have forked (warm_python.py)."""
    slow, pid = world.folder / "slow.py", world.folder / "pid"
    slow.write_text(f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(100)\n")
    world.play({"answer": ""})
    process = world.start(slow, "--target", "null")
    end = time.monotonic() + 60
    while not (pid.exists() and pid.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, said = world.end(process)
    assert code == 130 and "stopped: interrupted" in said, said
    end = time.monotonic() + 20
    while Path("/proc", pid.read_text()).exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path("/proc", pid.read_text()).exists()


def test_a_key_file_is_read_and_kept_nowhere(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    file: Path = tmp_path_factory.mktemp("key") / "key"
    file.write_text(KEY + "\n")
    world.play({"answer": f"```python\n# {KEY}\n```\n"}, {"answer": MODEL.format(1)})
    words = ("--coder", "llm", "--target", "null", "--evaluations", 1, "--key-file", file)
    code, said = world.optimize(world.folder / "small.py", *words)
    assert code == 1, said
    assert world.server.requests[0]["headers"]["Authorization"] == f"Bearer {KEY}"
    assert len(world.attempts()) == 2


def test_a_key_in_the_wrong_place_is_not_repeated(world: World) -> None:
    world.play({"answer": ""})
    table = world.folder / "models.json"
    (row,) = json.loads(table.read_text())
    table.write_text(json.dumps([{**row, "key": "sk-live-0123456789"}]))
    code, said = world.optimize(world.folder / "small.py", "--coder", "llm", "--target", "null")
    assert code == 2 and "the field key of scripted is wrong" in said and "sk-live" not in said, said


def test_a_table_that_is_named_must_be_there(world: World) -> None:
    world.play({"answer": ""})
    (world.folder / "models.json").unlink()
    code, said = world.optimize(world.folder / "small.py", "--coder", "llm", "--target", "null")
    assert code == 2 and "reading the user's models: there is no such file: got MTMC_MODELS=" in said, said


def test_all_ways_of_an_ablation_share_the_key_and_the_money(world: World) -> None:
    (world.folder / "tasks").mkdir()
    (world.folder / "small.py").rename(world.folder / "tasks/small.py")
    world.play(
        {"answer": MODEL.format(1), "usage": [1_000_000, 1000]}, {"answer": MODEL.format(2), "usage": [1_000_000, 1000]}
    )
    ways = ("--ways", "greedy/tree@llm", "greedy/tree@free")
    words = ("--root", world.folder / "tasks", "--target", "null", "--time", 300, "--evaluations", 1)
    code, said = world.end(world.begin("bench", "ablation", *words, *ways, "--max-cost", 1.03))
    assert len(world.server.requests) == 1, said
    (llm, free) = [
        json.loads((world.folder / f"out/greedy-tree-{way}/rows.jsonl").read_text()) for way in ("llm", "free")
    ]
    assert llm["account"]["requests"] == 1
    assert "this request could pass the cost limit: got $1.0020 spent" in free["error"], free
    code, said = world.end(world.begin("bench", "ablation", *words, *ways, "--max-cost", 5))
    assert len(world.server.requests) == 2, said
    table = (world.folder / "out/ablation.md").read_text()
    assert table.count("| 1 requests, 1000000 + 1000 tokens, $1.0020 |") == 2, table
