"""torch.compile on a GPU that others use, too. Inductor compares versions of kernels by timing them (its autotuner, whether it pads
a product, and with max-autotune the choice of an algorithm): alone, as everybody who times. Nobody waits for it while it compiles,
and what it made first runs beside others. The methods are those of torch 2.11, 2.13 and 2.15; where one is missing there is no engine.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from mtmc.device.turn import away, shared, turn

BENCHMARKING = "torch._inductor.runtime.benchmarking"
AUTOTUNER = "torch._inductor.runtime.triton_heuristics"
CALLBACKS = "torch._dynamo.callback"
_making = False  # an engine. Later, when calls are timed, whoever asked for them has the turn


@contextmanager
def in_turns() -> Iterator[None]:
    """What runs in here runs in a turn with others; what Inductor times, alone; and while torch compiles there is no turn."""
    if not shared():
        yield
        return
    global _making
    take_turns(importlib.import_module(BENCHMARKING), importlib.import_module(AUTOTUNER))
    callbacks = importlib.import_module(CALLBACKS).callback_handler
    absence = ExitStack()

    def begins(_: object) -> None:
        absence.enter_context(away())

    def ends(_: object) -> None:
        absence.close()

    callbacks.register_start_callback(begins)
    callbacks.register_end_callback(ends)
    _making = True
    try:
        with turn(alone=False):
            yield
    finally:
        _making = False
        callbacks.remove_start_callback(begins)
        callbacks.remove_end_callback(ends)


def take_turns(benchmarking: Any, autotuner: Any) -> None:
    """For good: passes of Inductor's keep bound methods. Every clock of its is `benchmark_gpu`; the versions of one kernel are
    compared in one turn, and those that coordinate descent compiles on the way each in its own."""
    alone = functools.partial(turn, alone=True)
    for kind in [one for one in vars(benchmarking).values() if isinstance(one, type) and "benchmark_gpu" in vars(one)]:
        _enter(kind, "benchmark_gpu", alone)
    _enter(autotuner.CachingAutotuner, "autotune_to_one_config", alone)
    _enter(autotuner.CachingAutotuner, "coordinate_descent_tuning", away)


def _enter(kind: type, name: str, context: Callable[[], AbstractContextManager[None]]) -> None:
    method = vars(kind)[name]
    if hasattr(method, "takes_turns"):
        return

    @functools.wraps(method)
    def entered(*arguments: Any, **words: Any) -> Any:
        if not _making:
            return method(*arguments, **words)
        with context():
            return method(*arguments, **words)

    entered.takes_turns = True  # type: ignore[attr-defined]
    setattr(kind, name, entered)
