"""The referee's own kernels beside torch's operators, on results of a gigabyte or so: python bench/measuring.py (needs an NVIDIA GPU).

A line each: what is found out, of which tensors, ms of the kernel and of the operators (the least of three), and how long the
kernel's first call took, which compiles it. Ends with 1 where both do not find the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from mtmc.device import one_pass
from mtmc.device.digest import MIXER
from mtmc.referee import elsewhere
from mtmc.referee import measure as by_torch
from mtmc.referee.tails import ROUNDING, smallest_whole

SHAPES = [(64, 64, 254, 254), (4096, 4096), (1 << 24,), (300, 200000)]
TYPES = [torch.float32, torch.float16]


def least_ms(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


def compare(
    what: str, kernel: Callable[[], Any], operators: Callable[[], Any], same: Callable[[Any, Any], bool]
) -> None:
    start = time.perf_counter()
    mine = kernel()
    torch.cuda.synchronize()
    first = time.perf_counter() - start
    alike = "same" if same(mine, operators()) else "DIFFERENT"
    print(
        f"{what:46} {alike}  {least_ms(kernel):8.2f} ms  {least_ms(operators):8.2f} ms  first {first:.2f} s", flush=True
    )


def near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-5 * abs(b)


def without_kernel(call: Callable[[], Any]) -> Any:
    kept, one_pass.differ = one_pass.differ, lambda *_: None
    try:
        return call()
    finally:
        one_pass.differ = kept


def on_tensors(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    label = f"{list(shape)} {str(dtype)[6:]}"
    t = torch.randn(shape, dtype=torch.float64, device="cuda")
    e, c = t.to(dtype), (t * (1 + 1e-4 * torch.rand(shape, device="cuda"))).to(dtype)
    rules = by_torch.OFFICIAL.get(dtype, by_torch.LEGACY), by_torch.LEGACY
    words, known = e.view(-1).view(torch.int64), torch.tensor([0, shape[0] - 1], device="cuda")

    def difference() -> elsewhere.Difference:
        return elsewhere.difference(c, e, 0, known, rules, 1.0)

    compare("hash " + label, lambda: one_pass.run_mix(words, MIXER.factors), lambda: MIXER.mixed(words), torch.equal)
    compare(
        "against eager " + label,
        difference,
        lambda: without_kernel(difference),
        lambda a, b: a.max_error == b.max_error and near(a.block_error, b.block_error),
    )
    compare(
        "against the truth " + label,
        lambda: one_pass.measure(c, e, t, rules, smallest_whole(dtype), ROUNDING),
        lambda: by_torch._measure_float(c, e, t, False),
        lambda a, b: a.max_error == b["max_error"] and near(a.error, b["off"]),
    )


def main() -> None:
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    if not torch.cuda.is_available() or one_pass.kernels() is None:
        sys.exit("timing the referee's kernels: no GPU or no triton here")
    for shape in SHAPES:
        for dtype in TYPES:
            on_tensors(shape, dtype)


if __name__ == "__main__":
    main()
