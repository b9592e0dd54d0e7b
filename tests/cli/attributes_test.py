"""Tensors that a module holds as plain attributes: no `.to` moves them, so modules for a GPU copy them themselves."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.ones(8)

    def forward(self, x):
        return x * self.table

def get_inputs():
    return [torch.ones(8)]
"""


def on_device(folder: Path) -> dict:
    """The module's own `_on_device`, for a device that every machine has."""
    (folder / "task.py").write_text(TASK)
    made = folder / "kernel.py"
    argv = [str(BINARY), "apply", str(folder / "task.py"), "--target", "triton", "--write", str(made)]
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "MTMC_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr
    text = made.read_text()
    assert "_on_device(self.table)" in text
    names = {"_DEVICE": "meta", "torch": torch, "weakref": weakref}
    exec(text[text.index("_moved = {}") : text.index("def _expect")], names)
    return names


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return on_device(tmp_path_factory.mktemp("attributes"))


def test_a_tensor_is_copied_once_and_again_when_it_changed(names: dict) -> None:
    move, table = names["_on_device"], torch.ones(8)
    first = move(table)
    assert first.is_meta and move(table) is first
    table[0] = 2
    again = move(table)
    assert again is not first and move(table) is again


def test_copies_die_with_their_tensors(names: dict) -> None:
    table = torch.ones(8)
    names["_on_device"](table)
    held = len(names["_moved"])
    del table
    gc.collect()
    assert len(names["_moved"]) == held - 1


def test_tensors_of_inference_mode_have_no_versions(names: dict) -> None:
    with torch.inference_mode():
        table = torch.ones(8)
    assert names["_on_device"](table) is names["_on_device"](table)


def test_what_is_there_already_is_not_copied(names: dict) -> None:
    table = torch.ones(8, device="meta")
    assert names["_on_device"](table) is table
