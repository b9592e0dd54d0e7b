"""Calls that nobody else asks for: what the user's code raises there is no news, full memory and faults of our own are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtmc.device.device import device_named
from mtmc.referee.reference import Reference
from mtmc.task.task import load_task
from mtmc.wire.task_error import TaskError
from traced_modules import module_text


def reference(folder: Path, body: str) -> Reference:
    (folder / "model.py").write_text("import random\nCALLS = []\n" + module_text(body))
    return Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))


def later(error: str) -> str:
    """A forward that draws elsewhere, so that it is called once more, and raises then."""
    return f"CALLS.append(1)\nif len(CALLS) > 1: raise {error}\nreturn x * random.random()"


def test_what_it_raises_is_told_where_that_is_asked_for(tmp_path: Path) -> None:
    reference(tmp_path, later("ValueError('no second time')"))


@pytest.mark.parametrize("error", ["MemoryError()", "RuntimeError('CUDA out of memory')"])
def test_full_memory_is_named(tmp_path: Path, error: str) -> None:
    with pytest.raises(TaskError, match="out of memory"):
        reference(tmp_path, later(error))


def test_faults_of_our_own_are_not_taken_for_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> bool:
        raise AssertionError("a fault")

    monkeypatch.setattr("mtmc.task.foreign.identical", broken)
    with pytest.raises(AssertionError, match="a fault"):
        reference(tmp_path, "return x * random.random()")
