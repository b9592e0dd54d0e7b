"""Makes `mtmc` importable from the source tree."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from rooms import Rooms  # noqa: E402

from mtmc.referee.referee import Referee  # noqa: E402

NORMED = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
    def forward(self, x):
        return self.norm(x)
def get_inputs():
    return [torch.randn(8, 4)]
"""


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rooms]:
    """A GPU that is shared."""
    file = tmp_path / "turn"
    monkeypatch.setenv("MTMC_TURN", str(file))
    others = Rooms(file)
    yield others
    others.other.close()


@pytest.fixture
def referee(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Referee]:
    """With the test's own module open, or with NORMED."""
    (tmp_path / "model.py").write_text(getattr(request, "param", NORMED))
    (tmp_path / "task.json").write_text(json.dumps({"name": "t", "file": str(tmp_path / "model.py"), "attr": "Model"}))
    referee, threads = Referee(), torch.get_num_threads()
    request = {
        "op": "open",
        "folder": str(tmp_path),
        "seed": 1,
        "accuracy": "eager",
        "device": "cpu",
        "threads": threads,
    }
    with torch.no_grad():  # it switches gradients off for itself
        assert "error" not in referee.handle(request)
        yield referee
