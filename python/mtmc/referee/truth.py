"""The float64 truth: the user's module run in double, whatever types its code names.

`.double()` alone is not enough: a forward that makes `torch.zeros(n, dtype=torch.float32)` or calls `.float()` computes in
fp32 again. `Widen` sees every operator call and widens float tensors, dtype arguments and results. So large arguments may be
given as they are: views of them stay narrow, their order is that of narrow elements, and what can be is computed in pieces.
Random operators: the values that eager drew are recorded and handed out again in the same order. So is the order that equal
values got where torch leaves it open.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_map

from mtmc.device.random_state import random_state
from mtmc.referee.definitions import definition_of
from mtmc.referee.in_range import check_on_gpu
from mtmc.referee.pieces import in_pieces
from mtmc.referee.ties import Orders, Ties
from mtmc.wire.modes import DispatchMode
from mtmc.wire.task_error import first_line

WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
SINGLE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
Widths = dict[torch.dtype, torch.dtype]
PLAIN = (type(None), bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format)
# Random operators whose result does not depend on the precision of their operands.
REPLAYED = frozenset(
    "bernoulli bernoulli_ rand rand_like randn randn_like randint randint_like randperm normal normal_ uniform uniform_ "
    "exponential_ geometric_ log_normal_ cauchy_ random_ random multinomial poisson binomial".split()
)
# Operators that write what they drew, a factor for each element, to their second operand.
SLOPED = frozenset({"rrelu_with_noise", "rrelu_with_noise_"})
# Operators that return equal values in any order.
OPEN_ORDERS = (torch.ops.aten.topk.default, torch.ops.aten.sort.default)
# Operators that return an index into their first operand: name -> position of the index among the results.
ORDERINGS = frozenset({"topk", "sort"})  # each index once
INDEX_OPERATORS = {"argmax": 0, "argmin": 0, "max": 1, "min": 1, "topk": 1, "sort": 1, "median": 1, "kthvalue": 1}


class TruthError(Exception):
    """The module cannot be replayed in double; says why."""


def widen(value: Any, widths: Widths = WIDER) -> Any:
    """Float tensors and float types in the wider type, double by default; everything else as it is."""
    if isinstance(value, torch.Tensor) and value.dtype in widths:
        return value.to(widths[value.dtype])
    if isinstance(value, torch.dtype):
        return widths.get(value, value)
    return value


def everywhere(change: Callable[[Any], Any], value: Any) -> Any:
    """As tree_map, which takes a third of the time that a small operator takes in all."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([everywhere(change, one) for one in value])
    return change(value) if kind in PLAIN or isinstance(value, torch.Tensor) else tree_map(change, value)


@functools.cache
def _drew(func: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in func.tags


def _slopes(name: str, args: Any) -> bool:
    """Is it an RReLU in training?"""
    return name in SLOPED and tuple(args[4:5]) == (True,)


@functools.cache
def _is_view(func: Any) -> bool:
    """Does its result share memory with an argument?"""
    return any(result.alias_info is not None for result in func._schema.returns)


class Record(DispatchMode):
    """Keeps what each random operator drew, and the places of each order that is open."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[Any] = []
        self.places: list[torch.Tensor] = []
        self.unsorted = False  # may any of them have another order throughout?

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        check_on_gpu(func, args, kwargs or {})
        before = random_state() if _drew(func) else None
        result = func(*args, **(kwargs or {}))
        if func in OPEN_ORDERS:
            self.places.append(result[1].clone())
            self.unsorted = self.unsorted or _unsorted(func, args, kwargs or {})
        # An RReLU draws for elements below zero, and in double it must find that there were none.
        sloped = before is not None and _slopes(func.overloadpacket.__name__, args)
        if before is not None and (sloped or not torch.equal(before, random_state())):
            drawn = args[1] if sloped else result
            self.drawn.append(tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, drawn))
        return result


class Widen(DispatchMode):
    def __init__(self, drawn: list[Any], widths: Widths, places: list[torch.Tensor] | None = None) -> None:
        super().__init__()
        self.widen = partial(widen, widths=widths)
        self.drawn, self.places = list(drawn), list(places or [])
        self.random = bool(drawn)
        self.orders = Orders()

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        changes_arguments = func._schema.is_mutable
        name = func.overloadpacket.__name__
        if args and self._is_narrow(args[0]) and not changes_arguments:
            check_on_gpu(func, args, kwargs or {})
            if _is_view(func):
                return func(*args, **(kwargs or {}))
            if name in INDEX_OPERATORS:
                result = self._in_eagers_order(
                    func, args, kwargs or {}, everywhere(self.widen, func(*args, **(kwargs or {})))
                )
                self._note_ties(name, args, kwargs or {}, result)
                return result
        if not _drew(func) and (result := in_pieces(func, args, kwargs, self.widen)) is not None:
            return result
        kept = 1 if changes_arguments else 0
        args = (*args[:kept], *everywhere(self.widen, args[kept:]))
        kwargs = {k: v if k == "out" else everywhere(self.widen, v) for k, v in (kwargs or {}).items()}
        check_on_gpu(func, args, kwargs)
        if self.random and _drew(func) and self._consumes(name, args):
            return self._replay(name, args)
        result = self._defined(func, args, kwargs)
        if changes_arguments:
            return result
        result = self._in_eagers_order(func, args, kwargs, everywhere(self.widen, result))
        if name in INDEX_OPERATORS and isinstance(args[0], torch.Tensor):
            self._note_ties(name, args, kwargs, result)
        return result

    def _in_eagers_order(self, func: Any, args: Any, kwargs: Any, result: Any) -> Any:
        """The result with eager's places in rows where they hold the same values; those that need not be sorted, in any order."""
        if func not in OPEN_ORDERS or not self.places:
            return result
        best, places = result
        eager, dim = self.places.pop(0).to(places.device), _along(func.overloadpacket.__name__, args, kwargs)
        order = (lambda x: x.sort(dim).values) if _unsorted(func, args, kwargs) else (lambda x: x)
        if eager.shape != places.shape or not places.dim():
            return result
        theirs = self.widen(args[0]).gather(dim, eager)
        mine, yours = order(best), order(theirs)
        same = ((yours == mine) | (yours.isnan() & mine.isnan())).all(dim, keepdim=True)
        return torch.where(same, theirs, best), torch.where(same, eager, places)

    def _is_narrow(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and self.widen(value.dtype) != value.dtype

    def _defined(self, func: Any, args: Any, kwargs: Any) -> Any:
        if (definition := definition_of(func, args)) is not None:
            return definition(*args, **kwargs)
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:  # NotImplementedError is one
            if (definition := definition_of(func, args, error)) is None:
                if "double" in str(error).lower():
                    wrong = (
                        f"{func} has no float64 version and no definition here, so that nothing tells how exact it is"
                    )
                    raise TruthError(f"{wrong} ({first_line(error)})") from error
                raise
        with self:
            return definition(*args, **kwargs)

    def _consumes(self, name: str, args: Any) -> bool:
        """Does this call draw? Some operators do where they have a dropout only."""
        if name == "_cudnn_rnn":
            dropout, train = args[11:13]
            return dropout > 0 and train
        if name in SLOPED:
            return _slopes(name, args)
        return "scaled_dot_product" not in name or any(isinstance(a, float) and a > 0 for a in args[3:4])

    def _replay(self, name: str, args: Any) -> Any:
        if not self.drawn:
            raise TruthError(f"the random operator {name} is called more often in double than in eager")
        value = self.drawn.pop(0)
        if name == "native_dropout":
            mask = value[1]
            return args[0] * mask / (1.0 - args[1]), mask
        if name in SLOPED:
            found = args[0] * self.widen(value)
            return args[0].copy_(found) if name.endswith("_") else found
        if name == "bernoulli_" and isinstance(value, (list, tuple)):
            value = value[1]  # the mask: a GPU's dropout is one operator, the host's several
        if name not in REPLAYED:
            raise TruthError(f"the random operator {name} cannot be replayed")
        value = everywhere(self.widen, value)
        return args[0].copy_(value) if name.endswith("_") else value

    def _note_ties(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        values, stable = args[0], kwargs.get("stable") is True
        if name in ("argmax", "argmin"):
            dim = args[1] if len(args) > 1 else kwargs.get("dim")
            index = result
        elif isinstance(result, (tuple, list)) and len(result) > 1:
            dim, index = _along(name, args, kwargs), result[1]
        else:
            return
        if dim is None:
            values, dim = values.flatten(), 0
        kept = values if self._is_narrow(values) else values.clone()  # narrow ones are arguments: nobody writes to them
        self.orders.note(index, Ties(kept, int(dim), name in ORDERINGS, stable))


def _along(name: str, args: Any, kwargs: Any) -> int:
    """The axis of an operator that returns values and their places."""
    where = 2 if name in ("topk", "kthvalue") else 1
    return int(kwargs.get("dim", args[where] if len(args) > where else -1))


def _unsorted(func: Any, args: Any, kwargs: Any) -> bool:
    return func is torch.ops.aten.topk.default and not kwargs.get("sorted", args[4] if len(args) > 4 else True)


def run_wide(
    call: Callable[[], Any], drawn: list[Any], widths: Widths = WIDER, places: list[torch.Tensor] | None = None
) -> tuple[Any, Orders]:
    """The result of a call under `Widen`, and the ties of its tensors of indices. `places`: see Record."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(widths.get(default, default))
    try:
        with Widen(drawn, widths, places) as mode:
            result = call()
    except (TruthError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        raise TruthError(first_line(error)) from error
    finally:
        torch.set_default_dtype(default)
    return result, mode.orders
