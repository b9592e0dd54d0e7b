"""Draws that are kept while there is room; those for which eager itself has no answer do not count."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.draws import seed_of
from mtmc.referee.kept_draws import KeptDraws
from mtmc.referee.reference import EagerError, Reference
from mtmc.referee.sampled import Sampler
from mtmc.task.task import load_task
from traced_modules import module_text

BAGS = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(50, 64))
    def forward(self, words, offsets):
        return nn.functional.embedding_bag(words, self.table, offsets, mode="sum")
def get_inputs():
    return [torch.randint(0, 50, (64,)), torch.arange(0, 64, 8)]
"""


def kept(folder: Path, text: str) -> KeptDraws:
    (folder / "model.py").write_text(text)
    made = Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))
    draws = KeptDraws(made, Sampler(made, seed_of(1, "x"), "eager"), 1, {"first": made.pristine})
    draws.dispensable = ["shape"]
    return draws


def test_where_offsets_do_not_ascend_there_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = kept(tmp_path, BAGS)
    assert draws.draw("task-0").eager.calls[0][0].shape == (8, 64)
    words, offsets = draws.arguments("task-0")
    monkeypatch.setattr(draws, "arguments", lambda _: [words, offsets[torch.arange(12) % 8]])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on several it raises
    try:
        with pytest.raises(EagerError, match="what lay in memory"):
            draws.draw("shape-0")
    finally:
        torch.set_num_threads(threads)


def test_what_is_written_throughout_has_one(tmp_path: Path) -> None:
    draws = kept(tmp_path, BAGS)
    draws.dispensable = ["task"]
    assert draws.draw("task-0").eager.calls
    (tmp_path / "floats").mkdir()
    nans = kept(tmp_path / "floats", module_text("return (x - x.amax()).log()"))
    nans.dispensable = ["task"]
    assert not nans.draw("task-0").eager.calls[0][0].isfinite().all(), "what is not a number each time is an answer"


def test_the_oldest_are_forgotten_for_others_and_it_is_told(tmp_path: Path) -> None:
    draws = kept(tmp_path, module_text("return x * 2"))
    size = draws.draw("task-0").bytes
    draws.most_bytes = 3 * size
    draws.draw("task-1")
    assert not draws.full and list(draws.known) == ["task-0", "task-1"]
    draws.draw("task-2")
    draws.draw("task-3")
    assert draws.full and "task-0" not in draws.known and "task-3" in draws.known


def test_kinds_of_which_rows_are_alike_say_so(tmp_path: Path) -> None:
    """One element that is next to nothing stands in all of them, and is one by chance, not five."""
    draws = kept(tmp_path, module_text("return torch.tanh(x)", inputs="torch.randn(512, 256)"))
    alike = {}
    for kind in ("task", "one-hot", "few-rows", "spread"):
        draw = draws.draw(f"{kind}-1")
        alike[kind] = draw.copied, len(draw.arguments[0].unique(dim=0)) < 512
    assert alike == {"task": (False,) * 2, "one-hot": (True,) * 2, "few-rows": (True,) * 2, "spread": (False,) * 2}
