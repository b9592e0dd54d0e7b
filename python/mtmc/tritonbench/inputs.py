"""What stands in the place of the benchmark's `Performance_Metrics`: it makes the arguments of one size and calls the function with
them, and measures nothing. Its text stands at the head of a task's script for performance sizes, whose function may be called like one
of Python's own (max, sum): none of those are used here, and nothing of ours is imported. Nor is __future__: it does not stand at the
head of the whole script."""

import contextlib
from typing import Any

import torch


class Performance_Metrics:
    def __init__(
        self, op_name: str, dtype: torch.dtype | None = None, is_backward: bool = False, **kwargs: Any
    ) -> None:
        self.op_name, self.dtype, self.kwargs = op_name, dtype, kwargs
        self.input_tensors: list[Any] = []
        self.place = self.places = 0

    def at_place(self, sizes: Any) -> list[Any]:
        """What the loop over all sizes is left with: the one at `place`, if there is one."""
        found = [*sizes]
        self.places = len(found)
        return found[self.place : self.place + 1]

    def run(self, place: int, device: str) -> None:
        """A GPU's arguments are drawn there: gigabytes that are drawn on the host and moved take seconds. Others lie where whoever
        calls has tensors made."""
        self.place = place
        with contextlib.nullcontext() if device == "cpu" else torch.device(device):
            self.get_input_tensors()
        for made in self.input_tensors:
            self.call_op(made if device == "cpu" else self.to_cuda(made))
