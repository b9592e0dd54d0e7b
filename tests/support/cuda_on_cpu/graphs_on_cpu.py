"""CUDA graphs in a test's process without a GPU. Neither Triton's interpreter nor `cuda_on_cpu` has a stream that a graph could
be captured from: here a launch is noted while a graph is captured, and done when it is replayed. Torch's own operators are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


class Graph:
    def __init__(self) -> None:
        self.launches: list[Callable[[], Any]] = []

    def replay(self) -> None:
        for launch in self.launches:
            launch()


captured: list[Graph] = []  # those that are captured now: one at most


@contextmanager
def capture(graph: Graph) -> Iterator[None]:
    captured.append(graph)
    yield
    captured.pop()


def note_launches(launcher: type) -> None:
    """`launcher`: the class whose objects launch a kernel when they are called."""
    launch = launcher.__call__

    def noted(self: Any, *arguments: Any, **options: Any) -> None:
        if captured:
            captured[0].launches.append(lambda: launch(self, *arguments, **options))
        else:
            launch(self, *arguments, **options)

    launcher.__call__ = noted  # type: ignore[method-assign]
    torch.cuda.CUDAGraph, torch.cuda.graph = Graph, capture  # type: ignore[misc,assignment]
