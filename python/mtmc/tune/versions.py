"""Versions of a kernel, each the file of a module without constructor arguments: loaded, or compiled by another process."""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path
from types import ModuleType

import torch

from mtmc.task.input_spec import InputSpec, parse_input
from mtmc.tune import hollow


def load(path: str) -> ModuleType:
    """Imports a kernel file, which builds its kernels."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def input_spec(type_text: str) -> InputSpec:
    return parse_input(type_text.replace("b1[", "bool["))


def get_ready() -> None:
    """In a process that will compile: what the first kernel would wait for."""
    from mtmc.device.triton_seed_kernel import run

    hollow.install()
    run(torch.zeros(64, device="cuda"))


def compile_version(path: str, inputs: list[str]) -> str:
    """In a process that compiles: fills Triton's cache; a hash of the binaries, or whatever the version raises."""
    from mtmc.guest.ahead import compile_only

    hollow.install()

    def compile_one() -> str:
        specs = [input_spec(text) for text in inputs]
        empty = [torch.empty(spec.shape, dtype=spec.dtype, device="cuda") for spec in specs]
        model = load(path).ModelNew()
        with torch.no_grad():
            return compile_only(lambda: model(*empty))

    try:
        return compile_one()
    finally:
        forget()


def forget() -> None:
    """Gives back the GPU's memory of versions that nobody uses any more: a kernel file keeps its scratch memory in its own module,
    which only the collector of cycles ends."""
    gc.collect()
    torch.cuda.empty_cache()
