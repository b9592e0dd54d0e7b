"""Exploits and honest kernels that need a GPU are judged where there is one; everywhere they must import."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch

TESTS = Path(__file__).resolve().parents[1]
FILES = [
    file
    for folder in ("exploits", "honest")
    for file in sorted((TESTS / folder).glob("*.py"))
    if "\nneeds: cuda\n" in file.read_text()
]
pytest.importorskip("triton", reason="triton is not installed")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_candidate_for_the_gpu_imports(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((torch.cuda.Event, "elapsed_time"), (torch.cuda, "synchronize")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back afterwards: some files replace them
    flag = torch.backends.cuda.matmul.allow_tf32
    spec = importlib.util.spec_from_file_location("candidate_for_gpu", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.backends.cuda.matmul.allow_tf32 = flag
    assert issubclass(module.ModelNew, torch.nn.Module)
