"""Training from a dataset to a policy, with a tiny model and small trees in which the best next action is known."""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import struct
import subprocess
from array import array
from pathlib import Path

import pytest
from small_task import SMALL_TASK
from small_trees import write_small_trees

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc")).parent / "mtmc-lm"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="mtmc-lm is not built here")

HELD_OUT = ["--held-out", 0.25]
SMALL = [
    "--episodes",
    2,
    "--minibatch",
    4,
    "--value-epochs",
    1,
    "--value-lr",
    1e-3,
    "--lr",
    1e-3,
]  # of an update of PPO


def start(*words: object, **variables: object) -> subprocess.Popen[str]:
    # One thread a process: tiny products gain nothing from more, and two processes run beside each other.
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | {name: str(value) for name, value in variables.items()}
    argv = [str(PROGRAM), "train", *map(str, words)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def train(*words: object, code: int = 0) -> str:
    process = start(*words)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, (words, process.returncode, out, err)
    return out + err


def refused(*words: object) -> str:
    return train(*words, code=2)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with trees.jsonl, a new model and one that has learned a little by imitation."""
    folder = tmp_path_factory.mktemp("training")
    write_small_trees(folder / "trees.jsonl")
    sizes = ["--width", 32, "--layers", 1, "--heads", 4, "--inner", 96, "--context", 512]
    train("new", "--tokenizer", ROOT / "tests/lm/data/smollm", "--out", folder / "new", *sizes)
    train("clone", *given(folder, "new"), "--out", folder / "cloned", "--lr", 3e-3, "--updates", 16, *HELD_OUT)
    return folder


def given(folder: Path, model: str = "cloned/policy", weights: str = "all") -> list[object]:
    return ["--model", folder / model, "--data", folder / "trees.jsonl", "--weights", weights]


def reached(folder: Path, model: str) -> dict[str, dict[str, float]]:
    """Of each way to choose, over the held-out tasks: the share of the best known speedup, and how often it ended with stop."""
    rows = folder / "rows.jsonl"
    train(
        "evaluate",
        "--model",
        folder / model,
        "--data",
        folder / "trees.jsonl",
        "--out",
        rows,
        "--samples",
        2,
        *HELD_OUT,
    )
    tasks = [json.loads(line) for line in rows.read_text().splitlines()]
    found = {}
    for way in ("greedy", "sampled", "steepest", "cost model"):
        shares = [task[way]["speedup"] / task["best known"] for task in tasks]
        stopped = sum(task[way]["stopped"] for task in tasks) / len(tasks)
        found[way] = {"of known": math.prod(shares) ** (1 / len(tasks)), "stopped": stopped}
    return found


def read_state(run: Path) -> dict[str, array]:
    data = (run / "state.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = array("f", data[8 + size + begin : 8 + size + end])
    return tensors


def test_it_learns_what_is_best_and_when_to_stop(world: Path) -> None:
    untaught = reached(world, "new")
    settings = ["--reward", "frugal", "--episodes", 24, "--minibatch", 16, "--updates", 6, "--lr", 1e-3]
    settings += ["--value-lr", 1e-3, "--entropy", 0.02, "--target-kl", 0.1]
    train("ppo", *given(world), "--out", world / "ppo", *settings, *HELD_OUT)
    taught = reached(world, "ppo/policy")
    assert taught["steepest"]["of known"] == pytest.approx(1)
    assert untaught["greedy"]["of known"] < 0.7 and taught["greedy"]["of known"] >= 0.9, (untaught, taught)
    assert taught["greedy"]["stopped"] >= 0.9 and taught["sampled"]["of known"] >= 0.8, taught
    lines = [json.loads(line) for line in (world / "ppo/metrics.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines] == list(range(1, 7))
    assert "value loss" in (world / "ppo/metrics.svg").read_text()


def test_a_policy_begins_where_its_prior_is(world: Path) -> None:
    """Which knows the small trees' answers; an untaught model says little beside a thousand times that."""
    shutil.copytree(world / "new", world / "expecting")
    (world / "expecting/mtmc.json").write_text('{"scores": "token", "prior": 1000}')
    found = reached(world, "expecting")
    assert (
        found["cost model"] == {"of known": pytest.approx(1), "stopped": 1} and found["greedy"] == found["cost model"]
    )


def test_curves_say_what_is_found_with_so_many_states(world: Path) -> None:
    shutil.copytree(world / "new", world / "sharp")
    (world / "sharp/mtmc.json").write_text('{"scores": "token", "prior": 20, "voice": 0.01}')
    words = ["evaluate", "--model", world / "sharp", "--data", world / "trees.jsonl", "--samples", 1, *HELD_OUT]
    first, again = (train(*words, "--curve", 6, "--out", world / f"curves-{i}.jsonl") for i in range(2))
    assert first == again and (world / "curves-0.jsonl").read_bytes() == (world / "curves-1.jsonl").read_bytes()
    assert train(*words, "--curve", 6, "--seed", 1) != first and "95 % at" not in train(*words)
    rows = [json.loads(line) for line in (world / "curves-0.jsonl").read_text().splitlines()]
    for row in rows:
        curves = row["curves"]
        assert curves.pop("states") == [1, 2, 4, 6] and len(curves) == 10
        for found in curves.values():
            assert len(found) == 4 and found == sorted(found) and 1 <= found[0] <= found[-1] <= row["best known"] + 1e-9
        # The cost model knows the answers: of three places at most an open one is done with each state.
        for way in ("policy", "cost model", "tree policy", "tree cost", "descent policy", "descent cost"):
            assert curves[way][2] == pytest.approx(row["best known"]) and curves[way][0] >= curves["random"][0]
    lines = {line[:14].strip(): line.split() for line in first.splitlines() if "%" in line}
    assert int(lines["cost model"][-2]) <= 3 < int(lines["random"][-2])


def test_phases_follow_each_other_within_a_budget(world: Path) -> None:
    phases = ["--phase", "clone updates=1 episodes=2 lr=1e-3", "--phase", "grpo updates=2 groups=1 group=2 lr=1e-4"]
    command = ["policy", *given(world), "--out", world / "phases", *phases, *HELD_OUT]
    assert "the same command goes on" in train(*command, "--budget", 1e-3, code=1)
    assert len((world / "phases/2-grpo/metrics.jsonl").read_text().splitlines()) == 1  # one update at least
    for _ in range(2):  # the second finds all done
        said = train(*command)
    assert f"--model {world / 'phases/2-grpo/policy'}" in said and "over random" in said
    assert (world / "phases/evaluation.jsonl").read_text().count("greedy") == 10
    assert "there is no such algorithm: got clown, wanted clone, grpo, ppo" in refused(*command, "--phase", "clown")
    assert "not a setting: got lr=much" in refused(*command, "--phase", "ppo lr=much")
    assert "grpo has no such setting: got lambda" in refused(*command, "--phase", "grpo lambda=1")


def test_a_policy_is_used_as_it_was_trained(world: Path) -> None:
    run = world / "by-token"
    head, *trees = (world / "trees.jsonl").read_text().splitlines()
    shown = [json.dumps(json.loads(tree) | {"view": "program"}) for tree in trees]
    programs, mixed = world / "programs.jsonl", world / "mixed.jsonl"
    programs.write_text("\n".join([head, *shown]) + "\n")
    mixed.write_text("\n".join([head, *trees[:-1], shown[-1]]) + "\n")
    of_programs = [programs if word == world / "trees.jsonl" else word for word in given(world, "new", "lora")]
    words = [
        "--out",
        run,
        "--updates",
        1,
        "--episodes",
        2,
        "--scores",
        "token",
        "--context",
        900,
        "--prior",
        8,
        "--voice",
        0.5,
    ]
    train("clone", *of_programs, *words, *HELD_OUT)
    model, adapter = world / "new", run / "policy"
    kept = {"context": 900, "prior": 8.0, "scores": "token", "view": "program", "voice": 0.5}
    assert json.loads((adapter / "mtmc.json").read_text()) == kept
    some = "some trees show code and others Programs"
    assert some in refused("clone", "--model", model, "--data", mixed, "--out", world / "of-mixed")
    other = "the data shows something else than the policy was trained to read: got code, wanted program"
    measured = ["--model", model, "--adapter", adapter, "--part", "all", "--data"]
    assert other in refused("evaluate", *measured, world / "trees.jsonl")
    assert "over random" in train("evaluate", *measured, programs)
    asked = {"prompt": "x = 1\n", "actions": ["stop", "fuse linear and gelu in lines 3-7"], "gains": [0, 0]}
    others = ({}, {"mode": "token"}, {"mode": "sum"}, {"gains": [0.5, 1]}, {"gains": []})
    lines = "".join(json.dumps(asked | more) + "\n" for more in others)
    argv = [PROGRAM, "score", "--model", model, "--adapter", adapter]
    done = subprocess.run(argv, input=lines, capture_output=True, text=True, timeout=60, check=True)
    *answers, wrong = map(json.loads, done.stdout.splitlines()[1:])
    usual, token, sums, expected = (answer["scores"] for answer in answers)
    assert expected == pytest.approx([usual[0] + 4, usual[1] + 8], abs=1e-4)  # 8 times what the cost model expects
    assert wrong["error"]["got"] == "0 gains" and wrong["error"]["wanted"] == "2"
    assert usual == token and usual[1] > 2 * sums[1], (usual, token, sums)
    train("merge", "--model", model, "--adapter", adapter, "--out", world / "merged")
    assert json.loads((world / "merged/mtmc.json").read_text()) == kept
    train("clone", *given(world, "merged"), "--out", world / "further", "--updates", 1, "--episodes", 2, *HELD_OUT)
    assert json.loads((world / "further/policy/mtmc.json").read_text()) == kept | {"view": "code"}  # that of its data
    assert "--scores" in refused("clone", *given(world, "new"), "--out", run, "--scores", "letter")
    (world / "task.py").write_text(SMALL_TASK)

    def optimize(policy: str) -> subprocess.CompletedProcess[str]:
        argv = [PROGRAM.parent / "mtmc", "optimize", world / "task.py", "--target", "null", "--policy", policy]
        argv += ["--strategy", "rollout", "--evaluations", "2", "--store", world / "s.db", "--out", world / "out"]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)

    done = optimize(f"lm:{model}+{adapter}")
    assert done.returncode in (0, 1), done.stderr
    done = optimize(f"lm:{model}+{world / 'nothing'}")
    assert done.returncode == 2 and "no such file or folder" in done.stderr, done.stderr


@pytest.mark.parametrize("weights", ["all", "lora"])
def test_a_run_in_pieces_is_the_same_bit_by_bit(world: Path, weights: str) -> None:
    common = ["ppo", *given(world, weights=weights), *SMALL, "--updates", 2]
    whole, pieces = world / f"whole-{weights}", world / f"pieces-{weights}"
    train(*common, "--out", whole)
    assert "the same command goes on" in train(*common, "--out", pieces, "--until", 1, code=1)
    # A crash after the line of an update was written, and before its state was.
    with (pieces / "metrics.jsonl").open("a") as file:
        file.write('{"update": 2, "loss": 1}\n{"upd')
    assert "going on after 1 of 2 updates" in train(*common, "--out", pieces)
    assert (whole / "state.safetensors").read_bytes() == (pieces / "state.safetensors").read_bytes()
    without_time = [
        [json.loads(line) | {"seconds": 0} for line in (run / "metrics.jsonl").read_text().splitlines()]
        for run in (whole, pieces)
    ]
    assert without_time[0] == without_time[1] and len(without_time[0]) == 2


@pytest.mark.parametrize("algorithm", ["clone", "ppo", "grpo"])
def test_two_processes_do_what_one_does(world: Path, algorithm: str) -> None:
    settings = {"clone": ["--episodes", 4], "ppo": SMALL, "grpo": ["--groups", 2, "--group", 2, "--lr", 1e-3]}
    common = [algorithm, *given(world), *settings[algorithm], "--updates", 1]
    train(*common, "--out", world / f"one-{algorithm}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {"WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    two = [start(*common, "--out", world / f"two-{algorithm}", RANK=rank, **variables) for rank in range(2)]
    for process in two:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, (out, err)
    one, both = read_state(world / f"one-{algorithm}"), read_state(world / f"two-{algorithm}")
    begun = json.loads((world / f"one-{algorithm}/metrics.jsonl").read_text())
    assert begun["norm"] > 0 and one.keys() == both.keys()
    for name, numbers in one.items():
        # Adam divides by what may be next to nothing: weights are compared with its step, moments with the largest.
        scale = 1e-3 if name.startswith("weight.") else max(map(abs, numbers))
        worst = max(abs(a - b) for a, b in zip(numbers, both[name], strict=True))
        assert worst <= 0.05 * scale, (name, worst, scale)


def test_an_adapter_becomes_part_of_the_weights(world: Path) -> None:
    run = ["clone", *given(world, weights="lora"), "--lr", 1e-2, "--episodes", 4, "--updates", 2]
    train(*run, "--out", world / "adapted")
    adapter = ["--adapter", world / "adapted/policy"]
    train("merge", "--model", world / "cloned/policy", *adapter, "--out", world / "merged")
    tables = []
    for words in (["--model", world / "cloned/policy", *adapter], ["--model", world / "merged"]):
        tables.append(train("evaluate", *words, "--data", world / "trees.jsonl", "--samples", 1, *HELD_OUT))
    assert tables[0] == tables[1]


def test_mistakes_are_told_with_what_was_found_and_wanted(world: Path) -> None:
    run = ["clone", "--episodes", 1, "--updates", 1, "--out", world / "refused"]
    known = given(world, weights="lora")
    done = world / "done"
    train("clone", *known, "--episodes", 1, "--updates", 1, "--out", done)

    def with_model(change: str, text: str | None) -> str:
        copy = world / "changed"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(world / "cloned/policy", copy)
        (copy / change).unlink() if text is None else (copy / change).write_text(text)
        return refused(*run, "--model", copy, "--data", world / "trees.jsonl")

    config = (world / "cloned/policy/config.json").read_text()
    tokenizer = json.loads((world / "cloned/policy/tokenizer.json").read_text())
    tokenizer["added_tokens"].append({"id": 5000, "content": "<|far|>", "special": True, "normalized": False})
    assert "no weights" in with_model("model.safetensors", None)
    assert "has a wrong shape: got [" in with_model(
        "config.json", config.replace('"intermediate_size": 96', '"intermediate_size": 95')
    )
    assert "unknown architecture: got mamba, wanted llama" in with_model(
        "config.json", config.replace('"llama"', '"mamba"')
    )
    assert "tokenizer" in with_model("tokenizer.json", '{"model": {"type": "WordPiece"}}')
    assert "the tokenizer is another model's: got 5001 tokens" in with_model("tokenizer.json", json.dumps(tokenizer))

    (world / "old.jsonl").write_text('{"format":"mtmc-trees-0","trees":0}\n')
    old = refused(*run, "--model", world / "new", "--data", world / "old.jsonl")
    assert "another format" in old and "mtmc-trees-0" in old and "wanted mtmc-trees-3" in old
    foreign = refused(*run, "--model", world / "new", "--adapter", done / "policy", "--data", world / "trees.jsonl")
    assert "it belongs to another base" in foreign and "the fingerprint of" in foreign

    alone = start(*run, *known, WORLD_SIZE=2, RANK=5, MASTER_PORT=1)
    assert "RANK is wrong: got 5, wanted 0 to 1" in alone.communicate()[1] and alone.returncode == 2

    again = ["clone", *known, "--episodes", 1, "--out", done]
    assert "it has another updates: got 1, wanted 2" in refused(*again, "--updates", 2)
    state = done / "state.safetensors"
    whole = state.read_bytes()
    state.write_bytes(whole[: len(whole) // 2])
    assert "the file is truncated" in refused(*again, "--updates", 1)
    assert "no task is left to learn from: got 48 in all" in refused(*run, *known, "--held-out", 0.9999)
    assert "there is no such reward: got rich, wanted constant, frugal, shaped" in refused(
        *run, *known, "--reward", "rich"
    )
    assert "--dtype makes no sense: got bf16" in refused(*run, *given(world), "--dtype", "bf16")
