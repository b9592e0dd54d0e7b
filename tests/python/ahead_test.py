"""Triton kernels are recorded without being launched, and compiled for GPUs that are not here."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch

from mtmc import ahead

HONEST = Path(__file__).resolve().parents[1] / "honest"
pytest.importorskip("triton", reason="triton is not installed")


def model_of(name: str) -> torch.nn.Module:
    spec = importlib.util.spec_from_file_location(name, HONEST / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelNew()


def test_launches_are_recorded_and_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    launches = ahead.recorded_call(model_of("gpu_softmax_rows"), [torch.zeros(4, 100)])
    assert [launch[0].fn.__name__ for launch in launches] == ["softmax_rows"]
    assert launches[0][1]["columns"] == 100 and launches[0][1]["block"] == 128
    ahead.compile_for(launches[0], 90)
    assert list(tmp_path.rglob("*.cubin"))


def test_what_the_compiler_says_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel, given, options = ahead.recorded_call(model_of("gpu_softmax_rows"), [torch.zeros(4, 100)])[0]
    with pytest.raises(Exception, match="power of 2"):
        ahead.compile_for((kernel, {**given, "block": 100}, options), 90)
