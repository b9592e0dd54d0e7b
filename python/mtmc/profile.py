"""How much of a call's time is spent inside torch's own operators, and which kind of library work they do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from mtmc.device import Device

# Operators that only make, view or copy memory.
PLUMBING = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided view _unsafe_view reshape expand permute transpose t slice "
    "select split split_with_sizes chunk unbind squeeze unsqueeze as_strided detach alias clone copy_ _to_copy contiguous "
    "zeros zeros_like zero_ fill_ full lift_fresh set_ resize_ is_pinned item _local_scalar_dense".split()
)
BLAS = frozenset("mm bmm addmm baddbmm mv addmv dot matmul linear addmm_ mkl_linear _linear_pointwise".split())


class _OperatorClock(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.clock = time.perf_counter_ns
        self.inside = 0
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        start = self.clock()
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name not in PLUMBING:
            self.inside += self.clock() - start
            self.names.add(name)
        return result


def profile_call(call: Callable[[], Any], device: Device) -> dict[str, Any]:
    """`own_kernel_share` (0 to 1) of the median of five plain calls, and `library_use` (none, BLAS, any)."""
    plain = sorted(device.timed(call)[1] for _ in range(5))[2]
    clocks = []
    for _ in range(3):
        with _OperatorClock() as clock:
            call()
        clocks.append(clock)
    inside = sorted(clock.inside for clock in clocks)[1]
    names = clocks[-1].names
    use = "none" if not names else "BLAS" if names <= BLAS else "any"
    return {"own_kernel_share": max(0.0, 1.0 - inside / max(plain, 1)), "library_use": use, "operators": sorted(names)}
