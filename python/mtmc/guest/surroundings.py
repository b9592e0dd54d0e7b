"""What surrounds a candidate in a program: whether gradients are recorded, how many threads there are, other instances of its class,
and the operators that all others call.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator

import torch

from mtmc.wire.line import Message

with contextlib.suppress(ImportError):  # torch does without
    import numpy.random  # noqa: F401  before guests are forked: numpy loads it when it is first asked for

# Of the dispatcher's table, what calls on tensors with values go through. (torch.compile adds to the others.)
CALLED = ("CPU", "CUDA", "Autograd", "Autocast", "ADInplaceOrView", "BackendSelect", "Composite")
Operators = dict[str, tuple[str, ...]]  # such lines of the table, by an operator's name


@contextlib.contextmanager
def elsewhere(where: Message | None, arguments: list[torch.Tensor]) -> Iterator[None]:
    """In another program: `gradients` are recorded there, those of the arguments, too, or it has another number of `threads`."""
    if not where:
        yield
        return
    threads = torch.get_num_threads()
    wanted = [x for x in arguments if where["gradients"] and x.is_floating_point()]
    try:
        with torch.set_grad_enabled(where["gradients"]):
            torch.set_num_threads(where["threads"] or threads)
            for x in wanted:
                x.requires_grad_(True)
            yield
    finally:
        torch.set_num_threads(threads)
        for x in wanted:
            with contextlib.suppress(RuntimeError):  # it may have become the result of something
                x.requires_grad_(False)


def operators() -> Operators:
    """What torch's own operators call, by name. It takes a tenth of a second."""
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    return {
        name: tuple(line for line in torch._C._dispatch_dump(name).splitlines() if line.startswith(CALLED))
        for name in names
    }


def another(model: torch.nn.Module, how: str, make: Callable[[], torch.nn.Module]) -> torch.nn.Module | None:
    """A `copy` of a module, or a `new` one; none where it cannot be copied."""
    if how == "new":
        return make()
    try:
        return copy.deepcopy(model)
    except Exception:  # whatever it holds that has no copy says so
        return None
