"""Calls of a task's module that nobody else asks for, to compare what it answers with what it answered before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from mtmc.device.memory import is_full
from mtmc.task.task import Task
from mtmc.wire.task_error import TaskError, first_cause


class Raised(Exception):
    """The user's code raises in such a call: what fails in the others is told there. Full memory is told in any case."""


def inputs_of(task: Task, draw: int = 0) -> list[Any]:
    with users_code():
        return task.make_inputs(draw)


def answer_of(task: Task, model: torch.nn.Module, inputs: list[Any]) -> Any:
    with users_code():
        return task.answer(model, inputs)


@contextmanager
def users_code() -> Iterator[None]:
    try:
        yield
    except TaskError as error:
        if is_full(first_cause(error)):
            raise
        raise Raised from error
