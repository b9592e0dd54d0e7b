"""Values that follow from the code alone are known while tracing, though tensors then have none: a branch on positions that
torch.arange made is decided as eager decides it, whatever the arguments and weights will be."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.weak import WeakIdKeyDictionary

FACTORIES = frozenset("arange eye full linspace ones tensor tril_indices triu_indices zeros".split())
LIKE = frozenset("full_like new_full new_ones new_zeros ones_like zeros_like".split())  # read no values
READS = frozenset("__bool__ __float__ __index__ __int__ item tolist".split())
CHANCE = (
    "bernoulli",
    "binomial",
    "dropout",
    "empty",
    "exponential",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "uniform",
)
CHANGES = {f"__i{name}__" for name in "add and floordiv lshift mod mul or pow rshift sub truediv xor".split()}
CHANGES |= {"__set__", "__setitem__"}
MOST = 1 << 16  # elements
# Of `x.data` and of `x.data = y`; another one each time, but equal.
GET_DATA, SET_DATA = torch.Tensor.data.__get__, torch.Tensor.data.__set__


def tensors_of(args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Those among the arguments of a function of torch's, which are in tuples, lists and dictionaries at most. (Torch's
    `tree_leaves` took a tenth of the trace of ResNet101: to read a tensor's attribute is such a call, too.)"""
    found: list[torch.Tensor] = []
    left = [*args, *kwargs.values()]
    for value in left:  # which grows meanwhile
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            left.extend(value)
        elif isinstance(value, dict):
            left.extend(value.values())
    return found


class Known(TorchFunctionMode):
    """Computes beside the trace what depends on nothing else, and answers when the code asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.values: Any = WeakIdKeyDictionary()  # a tensor of the trace -> its real value

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func == GET_DATA:  # torch's own way to it passes by the trace
            func = torch.Tensor.detach
        elif func == SET_DATA:
            func, args = torch.Tensor.copy_, (args[0].detach(), args[1])
        name = getattr(func, "__name__", "")
        given = tensors_of(args, kwargs)
        known = all(tensor in self.values for tensor in given)
        if name in READS and given and known:
            with _disable_current_modes():
                return getattr(self.values[given[0]], name)(*args[1:], **kwargs)
        result = func(*args, **kwargs)
        if changes_argument(name, kwargs):
            if any(tensor in self.values for tensor in given):
                self.values.clear()  # it may have been a view of another one
        elif isinstance(result, torch.Tensor) and result.numel() <= MOST and type(result) is not torch.nn.Parameter:
            if name in LIKE or (known and (given or name in FACTORIES) and not any(word in name for word in CHANCE)):
                self.note(func, args, kwargs, result)
        return result

    def note(self, func: Any, args: Any, kwargs: Any, result: torch.Tensor) -> None:
        def real(tensor: torch.Tensor) -> torch.Tensor:
            found = self.values.get(tensor)
            return found if found is not None else torch.empty(tensor.shape, dtype=tensor.dtype)

        with _disable_current_modes():
            args, kwargs = pytree.tree_map_only(torch.Tensor, real, (args, kwargs))
            value = func(*args, **kwargs)
        if isinstance(value, torch.Tensor) and value.shape == result.shape and value.dtype == result.dtype:
            self.values[result] = value


def changes_argument(name: str, kwargs: dict[str, Any]) -> bool:
    """`add_`, `__iadd__`, `__setitem__`, `out=`."""
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name in CHANGES or kwargs.get("out") is not None
