"""The worked examples in prompts are right: the judge certifies those for the CPU, Triton's interpreter runs those for
triton, and those for cuda are run as C++ on the CPU and compiled by NVRTC, where it is installed. Where the judge's corpora take turns
(`./test`), so do the examples that the judge or a compiler meets.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from cuda_on_cpu import compile_by_nvrtc, find_nvrtc

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
os.environ["MTMC_PYTHON"] = sys.executable
EXAMPLES = sorted((ROOT / "src/coder/examples").glob("*.md"))
sys.path.append(str(ROOT / "tools"))

import corpus_turn  # noqa: E402

# Every kernel of a list of (name, task, code) in one process, against the module itself: twice, with other values, since a
# captured graph may hold on to the first ones. graphs_on_cpu.py says why it does not run as it is.
RUN = """
import importlib.util, json, sys, torch
from cuda_on_cpu import in_place_of_nvrtc
from graphs_on_cpu import note_launches
if importlib.util.find_spec("triton") is not None:
    from triton.runtime.interpreter import GridExecutor
    note_launches(GridExecutor)
for name, task, code in json.load(open(sys.argv[1])):
    module, made = {}, {}
    for path, names in ((task, module), (code, made)):
        text = open(path).read()
        exec(compile(in_place_of_nvrtc(text) if "class Cuda:" in text else text, path, "exec"), names)
    if "Cuda" in made:
        note_launches(made["Cuda"])
    torch.manual_seed(1)
    model, eager, pairs = made["ModelNew"](), module["Model"](), []
    for _ in range(2):
        inputs = module["get_inputs"]()
        pairs.append((model(*inputs), eager(*inputs)))
    for pair in pairs:
        torch.testing.assert_close(*pair, rtol=1e-4, atol=1e-3, msg=lambda text: name + ": " + text)
    print(name)
"""


def whose_turn(files: list[Path]) -> list[Path]:
    """All of them, or a sixth, one at least, and what the last commits changed."""
    if not os.environ.get("MTMC_CORPUS", "").startswith("@"):
        return files
    return sorted(corpus_turn.turn(files, corpus_turn.turn_now(), corpus_turn.changed()))


def unpacked(target: str, folder: Path, by_turns: bool = False) -> list[tuple[str, str, str]]:
    """(name, task's file, kernel file) of each distinct kernel of a target's examples."""
    found, seen = [], set()
    files = [file for file in EXAMPLES if file.stem.startswith(target + "_")]
    for file in whose_turn(files) if by_turns else files:
        parts = dict(re.findall(r"## (\w+)\n\n```python\n(.*?)```", file.read_text(), re.DOTALL))
        assert list(parts) == ["task", "before", "after"], file
        for name, text in parts.items():
            (folder / f"{file.stem}_{name}.py").write_text(text)
            if name != "task" and text not in seen:
                seen.add(text)
                found.append(
                    (f"{file.stem}_{name}", str(folder / f"{file.stem}_task.py"), f"{folder}/{file.stem}_{name}.py")
                )
    return found


def test_each_type_has_an_example_for_each_target() -> None:
    coder = (ROOT / "src/coder/coders/llm.cpp").read_text()
    offered = re.search(r"kTypes\[\] = \{(.*?)\}", coder, re.DOTALL)
    assert offered is not None
    types = re.findall(r'"(\w+)"', offered[1])
    assert len(types) == 9
    assert {file.stem for file in EXAMPLES} == {
        f"{target}_{kind}" for target in ("cpu", "triton", "cuda") for kind in types
    }


def expect_certified(target: str, device: str, folder: Path) -> None:
    kernels = unpacked(target, folder, by_turns=True)
    lines = [json.dumps({"file": task, "candidate": code}) for _, task, code in kernels]
    (folder / "list").write_text("\n".join(lines))
    argv = [str(BINARY), "verify", "--list", str(folder / "list"), "--tier", "screen", "--device", device]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    refused = [v for v in verdicts if v.get("outcome") != "certified"]
    assert len(verdicts) == len(kernels) and not refused, (refused, done.stderr)


def test_the_judge_certifies_those_for_the_cpu(tmp_path: Path) -> None:
    expect_certified("cpu", "cpu", tmp_path)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no NVIDIA GPU")
@pytest.mark.parametrize("target", ["triton", "cuda"])
def test_the_judge_certifies_those_for_the_gpu(target: str, tmp_path: Path) -> None:
    expect_certified(target, "cuda", tmp_path)


def run_on_the_cpu(target: str, folder: Path) -> None:
    kernels = unpacked(target, folder, by_turns=target == "cuda")
    (folder / "list").write_text(json.dumps(kernels))
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT / "tests/support/cuda_on_cpu")]))
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path}
    argv = [sys.executable, "-c", RUN, str(folder / "list")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.stdout.split() == [name for name, _, _ in kernels], done.stdout + done.stderr


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="this Python has no triton")
def test_the_interpreter_runs_those_for_triton(tmp_path: Path) -> None:
    run_on_the_cpu("triton", tmp_path)


def test_those_for_cuda_are_right_as_cpp(tmp_path: Path) -> None:
    run_on_the_cpu("cuda", tmp_path)


@pytest.mark.skipif(find_nvrtc() is None, reason="this Python has no NVRTC (pip install nvidia-cuda-nvrtc)")
def test_nvrtc_compiles_those_for_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [Path(code) for _, _, code in unpacked("cuda", tmp_path)]
    files += (ROOT / "tests").glob("*/gpu_cuda_*.py")  # of the judge's corpora
    compiled = [file for file in files if "class Cuda:" in file.read_text()]
    assert len(compiled) == 18
    for file in compiled:
        compile_by_nvrtc(file.read_text(), find_nvrtc(), monkeypatch)
