import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "support/cuda_on_cpu"))

from scripted_world import World  # noqa: E402
from small_task import SMALL_TASK  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "recipes: docs/ADDING.md carried out on a copy of the tree")
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    (tmp_path / "small.py").write_text(SMALL_TASK)
    yield made
    made.stop()
    assert made.leaks() == []
