"""Makes `mtmc` importable from the source tree."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from rooms import Rooms  # noqa: E402


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rooms]:
    """A GPU that is shared."""
    file = tmp_path / "turn"
    monkeypatch.setenv("MTMC_TURN", str(file))
    others = Rooms(file)
    yield others
    others.other.close()
