"""Answers of a language model, recorded step by step, right and wrong ones: they lead from eager code to a faster kernel.

With an NVIDIA GPU the whole loop runs, `pytest -m gpu tests/cli/recorded_steps_test.py`: policy and coder are asked through HTTP, the
judge refuses what is wrong, and certifies the result. Everywhere each answer is run on the CPU: Triton by its interpreter, CUDA
as C++. (Two tasks for the CPU are in llm_coder_test.py.)
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from cuda_on_cpu import compile_by_nvrtc, find_nvrtc, in_place_of_nvrtc
from scripted_world import ANSWERS, World, answer

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import corpus_turn  # noqa: E402

TRITON = importlib.util.find_spec("triton") is not None


@dataclass
class Answer:
    name: str
    reasons: str = ""  # those for which the judge may refuse it; empty: it is right
    shows: bool = True  # whether the CPU can tell


@dataclass
class Task:
    name: str
    target: str
    steps: list[tuple[str, list[Answer]]]  # the action that is chosen, and the answers: all but the last are refused


# What was kept of an earlier call is wrong by little where two draws are alike.
STALE = (
    "stale-output wrong-result precision output-reused insensitive-to-input nondeterministic illegal-access non-finite"
)
UNWRITTEN = "wrong-result unwritten-output non-finite nondeterministic"
TASKS = [
    Task(
        "rbf",
        "cuda",
        [
            ("fuse", [Answer("rbf_fuse_broken", "compile-error"), Answer("rbf_fuse")]),
            ("tile", [Answer("rbf_tile_wrong", "wrong-result"), Answer("rbf_tile")]),
        ],
    ),
    Task(
        "rms",
        "cuda",
        [
            ("lower", [Answer("rms_lower")]),
            ("fuse", [Answer("rms_fuse")]),
            ("split", [Answer("rms_split_exploit", STALE), Answer("rms_split")]),
            ("pipeline", [Answer("rms_pipeline")]),
        ],
    ),
    Task(
        "spread",
        "triton",
        [
            (
                "fuse mul, softmax and relu",
                [Answer("spread_fuse_half", "precision wrong-result"), Answer("spread_fuse")],
            ),
            ("simplify", [Answer("spread_simplify")]),
        ],
    ),
    Task(
        "products",
        "triton",
        [
            ("fuse", [Answer("products_fuse")]),
            ("reorder", [Answer("products_reorder_wrong", UNWRITTEN), Answer("products_reorder")]),
            (
                "precision",
                [
                    Answer("products_precision_tf32", "precision wrong-result", shows=False),
                    Answer("products_precision"),
                ],
            ),
            (
                "capture",
                [Answer("products_capture_stale", STALE, shows=False), Answer("products_capture", shows=False)],
            ),
        ],
    ),
    Task(
        "centre",
        "triton",
        [
            (
                "fuse mean, sub, mul, add and sigmoid",
                [Answer("centre_fuse_global", "compile-error", shows=False), Answer("centre_fuse")],
            ),
            ("split", [Answer("centre_split_kept", STALE), Answer("centre_split")]),
            (
                "reorder",
                [
                    Answer("centre_reorder_in_place", "input-modified output-aliases-input", shows=False),
                    Answer("centre_reorder"),
                ],
            ),
        ],
    ),
    Task(
        "sharpen",
        "cuda",
        [
            ("fuse", [Answer("sharpen_fuse_zeros", "wrong-result precision"), Answer("sharpen_fuse")]),
            ("tile", [Answer("sharpen_tile_race", UNWRITTEN), Answer("sharpen_tile")]),
            (
                "simplify",
                [Answer("sharpen_simplify_short", "precision wrong-result"), Answer("sharpen_simplify")],
            ),
        ],
    ),
]
NAMES = [task.name for task in TASKS]

# Every answer in one process, called twice, the second time with other values in the same place: its largest error beside the
# module's own results, or what it raised.
RUN = """
import json, sys, torch
found = {}
for name, task, code in json.load(open(sys.argv[1])):
    module, made = {}, {}
    try:
        for path, names in ((task, module), (code, made)):
            exec(compile(open(path).read(), path, "exec"), names)
        torch.manual_seed(1)
        inputs, eager, model = module["get_inputs"](), module["Model"](), made["ModelNew"]()
        model.load_state_dict(eager.state_dict())
        for _ in range(2):
            for x in inputs:
                x.copy_(torch.randn(x.shape))
            wanted, got = eager(*inputs), model(*inputs)
            error = ((got.double() - wanted).norm() / wanted.double().norm()).item()
            found[name] = max(error, found.get(name, 0)) if error == error else 9
    except RuntimeError as error:
        found[name] = str(error).splitlines()[0]
print(json.dumps(found))
"""


def code_of(one: Answer) -> str:
    return answer(one.name)["answer"].split("```python\n")[1].split("```")[0]


def answers_of(task: Task) -> list[Answer]:
    return [one for _, answers in task.steps for one in answers]


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_right_answers_are_right_on_the_cpu_and_wrong_ones_are_not(task: Task, world: World) -> None:
    if task.target == "triton" and not TRITON:
        pytest.skip("this Python has no triton")
    shown = [one for one in answers_of(task) if one.shows]
    for one in shown:
        code = in_place_of_nvrtc(code_of(one)) if task.target == "cuda" else code_of(one)
        (world.folder / f"{one.name}.py").write_text(code)
    rows = [(one.name, str(ANSWERS / f"{task.name}.py"), str(world.folder / f"{one.name}.py")) for one in shown]
    (world.folder / "list").write_text(json.dumps(rows))
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    argv = [sys.executable, "-c", RUN, str(world.folder / "list")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    for name, found in json.loads(done.stdout).items():
        reasons = next(one.reasons for one in shown if one.name == name)
        if reasons == "compile-error":
            assert str(found).startswith("compiling the kernels"), (name, found)
        else:
            assert (found > 1e-4) if reasons else (found < 2e-6), (name, found)


@pytest.mark.skipif(find_nvrtc() is None, reason="this Python has no NVRTC (pip install nvidia-cuda-nvrtc)")
def test_nvrtc_compiles_all_but_the_broken_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in TASKS:
        for one in answers_of(task) if task.target == "cuda" else []:
            if one.reasons != "compile-error":
                compile_by_nvrtc(code_of(one), find_nvrtc(), monkeypatch)
                continue
            with pytest.raises(RuntimeError, match=r"kernels.cu\(\d+\): error"):
                compile_by_nvrtc(code_of(one), find_nvrtc(), monkeypatch)


def test_they_are_of_all_types_for_both_targets() -> None:
    types = {action.split()[0] for task in TASKS for action, _ in task.steps}
    assert types == {"lower", "fuse", "tile", "pipeline", "reorder", "split", "simplify", "capture", "precision"}
    assert {task.target for task in TASKS} == {"cuda", "triton"}


def expect_steps(task: Task, world: World, target: str, texts: dict[str, str]) -> tuple[int, str]:
    """The whole loop with these texts of the answers: each is judged as it is recorded. The exit code, and what was said."""
    plays = []
    for action, answers in task.steps:
        plays += [{"choose": action}, *({"answer": texts[one.name]} for one in answers)]
    world.play(*plays, {"choose": "stop"})
    words = ("--coder", "llm", "--policy", "chat", "--target", target, "--baselines", "graph")
    code, said = world.optimize(ANSWERS / f"{task.name}.py", *words)
    attempts = world.attempts()[1:]
    told = "\n".join([said, *map(str, attempts), *map(str, world.refusals())])
    assert len(attempts) == len(answers_of(task)), told
    for (action, coder, reason), one in zip(attempts, answers_of(task), strict=True):
        assert reason or not one.reasons, f"{one.name} fooled the judge: {told}"
        assert coder == "llm:scripted" and (reason in one.reasons.split() if one.reasons else not reason), told
        first = one in [answers[0] for _, answers in task.steps]
        assert (action == "repair") == (not first), told
    return code, told


def whose_turn() -> list[Task]:
    """A third of those for CUDA, where the judge's corpora take turns (`./test`): each is half a minute of judging."""
    of_cuda = [task.name for task in TASKS if task.target == "cuda"]
    chosen = corpus_turn.every_third(of_cuda, str(Path(__file__).relative_to(ROOT)))
    return [task for task in TASKS if task.name in chosen]


@pytest.mark.parametrize("task", whose_turn(), ids=lambda task: task.name)
def test_the_loop_of_cuda_runs_where_cpp_stands_in_for_it(task: Task, world: World) -> None:
    texts = {one.name: in_place_of_nvrtc(answer(one.name)["answer"]) for one in answers_of(task)}
    code, told = expect_steps(task, world, "cpu", texts)
    assert code in (0, 1), told  # whether it is faster there does not matter


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no NVIDIA GPU")
@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_the_steps_lead_to_a_certified_faster_kernel(task: Task, world: World) -> None:
    texts = {one.name: answer(one.name)["answer"] for one in answers_of(task)}
    code, told = expect_steps(task, world, task.target, texts)
    result = json.loads((world.folder / "out/result.json").read_text())
    assert code == 0 and result["certified"] and result["answer"] == "faster", told
    print(f"{task.name}: {result['speedup']['eager']:.2f}x eager, {result['seconds']:.0f} s")
