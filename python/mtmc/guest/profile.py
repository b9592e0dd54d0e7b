"""How much of a call's time is spent inside torch's own operators, and which kind of library work they do.

On a GPU: which kernels ran, for how long, and which of them are the file's own, by the driver's record of them.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

from mtmc.device.device import Device
from mtmc.wire.modes import DispatchMode
from mtmc.wire.task_error import first_line

# Operators that only make, view or copy memory.
PLUMBING = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided view _unsafe_view reshape expand permute transpose t slice "
    "select split split_with_sizes chunk unbind squeeze unsqueeze as_strided detach alias clone copy_ _to_copy contiguous "
    "zeros zeros_like zero_ fill_ full lift_fresh set_ resize_ is_pinned item _local_scalar_dense".split()
)
BLAS = frozenset("mm bmm addmm baddbmm mv addmv dot matmul linear addmm_ mkl_linear _linear_pointwise".split())


SHOWN = 12  # names of kernels or operators whose share of the time is told


class _OperatorClock(DispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.clock = time.perf_counter_ns
        self.inside = 0
        self.spent: Counter[str] = Counter()  # ns, by operator

    def watch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        start = self.clock()
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name not in PLUMBING:
            took = self.clock() - start
            self.inside += took
            self.spent[name] += took
        return result


def largest(spent: Counter[str], total: float) -> dict[str, float]:
    """The shares of whatever takes most of a time."""
    return {name: min(1.0, one / max(total, 1e-9)) for name, one in spent.most_common(SHOWN)}


# Names of kernels of the matrix libraries, and of those that only copy or fill.
BLAS_KERNELS = re.compile(r"gemm|gemv|cutlass|nvjet|splitKreduce|cublas|dot_kernel|sgemm|xmma", re.IGNORECASE)
COPIES = re.compile(r"^Mem(cpy|set)|FillFunctor|direct_copy_kernel|CatArrayBatchedCopy")


def profile_kernels(call: Callable[[], Any], device: Device, names: set[str]) -> dict[str, Any]:
    """As `profile_call` for a GPU; `names`: of the file's own kernels."""
    call()
    device.synchronize()
    try:
        # Of autograd, not torch.profiler's: that one imports torch.compile, seconds of a certification.
        with torch.autograd.profiler.profile(use_cpu=False, use_kineto=True, use_device="cuda") as record:
            call()
            device.synchronize()
        ran = [(e.name, e.time_range.elapsed_us()) for e in record.function_events if e.device_type.name == "CUDA"]
    except RuntimeError as error:
        return {"own_kernel_share": None, "library_use": "", "note": f"no-profile: {first_line(error)[:80]}"}
    if not ran:
        return {"own_kernel_share": None, "library_use": "", "note": "no-profile: no kernel was recorded"}
    pattern = (
        re.compile(r"(?<![A-Za-z0-9])(" + "|".join(map(re.escape, names)) + r")(?![A-Za-z0-9])") if names else None
    )
    mine = [pattern is not None and pattern.search(name) is not None for name, _ in ran]
    others = {name for (name, _), is_mine in zip(ran, mine, strict=True) if not is_mine and not COPIES.search(name)}
    total = sum(us for _, us in ran) or 1e-9
    spent: Counter[str] = Counter()
    for name, us in ran:
        spent[name[:80]] += us
    use = "none" if not others else "BLAS" if all(BLAS_KERNELS.search(name) for name in others) else "any"
    return {
        "own_kernel_share": sum(us for (_, us), is_mine in zip(ran, mine, strict=True) if is_mine) / total,
        "library_use": use,
        "kernel_shares": largest(spent, total),
        "launches": len(ran),
        "operators": sorted(name[:80] for name in others),
    }


def _is_compiled() -> bool:
    """Did torch.compile look at any frame of this process?"""
    utils = sys.modules.get("torch._dynamo.utils")
    return utils is not None and any(utils.counters[kind] for kind in ("frames", "stats"))


def profile_call(call: Callable[[], Any], device: Device) -> dict[str, Any]:
    """`own_kernel_share` (0 to 1) of the fastest of five plain calls, `library_use` (none, BLAS, any) and `kernel_shares`, the part of
    the time that each operator takes. A call that somebody held up counts for neither: what is outside of torch's operators
    is no more than where these are watched. Of what torch.compile made nothing is said: beside our mode it would run uncompiled
    or, where it must be compiled whole, not at all, then and ever after."""
    if _is_compiled():
        return {"own_kernel_share": None, "library_use": "any", "note": "no-profile: torch.compile"}
    plain = max(1, min(device.timed(call)[1] for _ in range(5)))
    clocks: list[tuple[int, _OperatorClock]] = []  # each with what lies outside
    for _ in range(3):
        with _OperatorClock() as clock:
            took = device.timed(call)[1]
        clocks.append((max(0, took - clock.inside), clock))
    shortest = min((clock for _, clock in clocks), key=lambda clock: clock.inside)
    names = {name for _, clock in clocks for name in clock.spent}
    use = "none" if not names else "BLAS" if names <= BLAS else "any"
    own = max(0.0, min(plain - shortest.inside, *(outside for outside, _ in clocks)) / plain)
    return {
        "own_kernel_share": own,
        "library_use": use,
        "kernel_shares": largest(shortest.spent, plain) | {"outside of torch's operators": own},
        "operators": sorted(names),
    }
