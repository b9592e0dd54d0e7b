"""Constructor arguments reach a candidate that may not see the file which defines their classes."""

from __future__ import annotations

import enum
import pickle
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from mtmc.task.task import load_task
from mtmc.trace.constructor import constructor_source
from mtmc.wire.arguments import classes_of, load_arguments


@dataclass
class Config:
    width: int

    def doubled(self) -> int:
        return 2 * self.width


class Kind(enum.Enum):
    wide = 1


def test_an_object_keeps_its_attributes_or_gets_the_candidates_class() -> None:
    data = pickle.dumps(([Config(8)], {"plain": [1, "two"]}))
    args, kwargs = load_arguments(data, __name__, None)
    assert args[0].width == 8 and not isinstance(args[0], Config) and kwargs == {"plain": [1, "two"]}
    candidate = ModuleType("candidate")
    candidate.Config = Config  # type: ignore[attr-defined]
    assert load_arguments(data, __name__, candidate)[0][0].doubled() == 16
    assert classes_of(data, __name__) == ["Config"]


def test_more_than_attributes_is_refused() -> None:
    with pytest.raises((TypeError, AttributeError)):  # which one depends on how this Python pickles an enum
        load_arguments(pickle.dumps(([Kind.wide], {})), __name__, None)


def test_a_kernel_file_brings_the_classes_of_its_arguments(tmp_path: Path) -> None:
    file = tmp_path / "configured.py"
    file.write_text(
        """
import torch
from dataclasses import dataclass

@dataclass
class Config:
    width: int = 8

    def doubled(self):
        return 2 * self.width

class Model(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear = torch.nn.Linear(config.width, config.doubled())

    def forward(self, x):
        return self.linear(x)

def get_init_inputs():
    return [Config()]

def get_inputs():
    return [torch.randn(2, 8)]
"""
    )
    task = load_task({"name": "configured", "file": str(file), "attr": "Model"})
    text = constructor_source(task, task.make_model(0), {}, set())
    assert "class Config:" in text and "def doubled" in text
