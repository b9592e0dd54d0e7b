"""The user's mistakes, in the four parts every message of ours has."""

from __future__ import annotations

import traceback
from pathlib import Path


class TaskError(Exception):
    """What was being done, what is wrong, what was found and what would have been right (the last two may be empty)."""

    def __init__(self, doing: str, wrong: str, got: str = "", wanted: str = "") -> None:
        self.doing, self.wrong, self.got, self.wanted = doing, wrong, got, wanted
        super().__init__(self.message())

    def message(self) -> str:
        """The same sentence that Error::message() in src/base/result.h makes."""
        text = f"{self.doing}: {self.wrong}" if self.doing else self.wrong
        if self.got:
            text += f": got {self.got}"
        if self.wanted:
            text += f", wanted {self.wanted}" if self.got else f": wanted {self.wanted}"
        return text

    def to_json(self) -> dict[str, str]:
        return {"doing": self.doing, "wrong": self.wrong, "got": self.got, "wanted": self.wanted}


def first_line(error: BaseException) -> str:
    """`ValueError: the first line of its text`, at most 300 characters."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:300]


def line_in(error: BaseException, file: str) -> str:
    """`name.py:3: its text`, the innermost line of a file on the way to an error; empty where it had none."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file][-1:]
    return "".join(f"{Path(file).name}:{frame.lineno}: {frame.line}" for frame in own)


def first_cause(error: BaseException) -> BaseException:
    """What went wrong before others said it in their own words."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def out_of_memory(doing: str, error: BaseException) -> TaskError:
    """The GPU's memory is full of what the judge must hold."""
    wanted = "smaller arguments, or a GPU with more memory: the judge holds them several times"
    return TaskError(doing, "out of memory", first_line(error), wanted)


def needs_gpu(error: Exception) -> bool:
    """Is it torch's word for what the host lacks? (A type that an operator lacks everywhere has another.)"""
    return "not implemented on the CPU" in str(error)
