"""The trace of a module that is given as text, or why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtmc.task.task import TaskError, load_task
from mtmc.trace.trace import trace


def traced(folder: Path, text: str, **more: Any) -> dict[str, Any]:
    path = folder / f"m{len(list(folder.iterdir()))}.py"
    path.write_text(text)
    return trace(load_task({"name": "m", "file": str(path), **more}))


def refused(folder: Path, text: str, **more: Any) -> TaskError:
    with pytest.raises(TaskError) as caught:
        traced(folder, text, **more)
    return caught.value
