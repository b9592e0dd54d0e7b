from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_world import World
from small_task import SMALL_TASK


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "recipes: docs/ADDING.md carried out on a copy of the tree")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    (tmp_path / "small.py").write_text(SMALL_TASK)
    yield made
    made.stop()
    assert made.leaks() == []
