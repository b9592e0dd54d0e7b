"""What this machine's first GPU is and does, measured in a second or two: one JSON object with the fields of
src/ir/hardware.h, for `mtmc` to keep. An empty object where there is no GPU.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from typing import Any

import torch

SIZE = 4096  # of square matrices
SMALL_BYTES = 24 << 20  # stays in the L2


def rate(device: Any, call: Callable[[], Any], amount: float, repeats: int = 8) -> float:
    """`amount` per second, in the best of several samples of several calls each."""
    call()

    def several() -> None:
        for _ in range(repeats):
            call()

    best = min(device.timed(several)[1] for _ in range(5))
    return amount * repeats / (best * 1e-9)


def matrix_rate(device: Any, dtype: torch.dtype, tf32: bool = False) -> float:
    torch.backends.cuda.matmul.allow_tf32 = tf32
    a, b = (torch.randn(SIZE, SIZE, device=device.where).to(dtype) for _ in range(2))
    return rate(device, lambda: a @ b, 2.0 * SIZE**3)


def launch_seconds(launch: Callable[[], Any], device: Any) -> float:
    """What one launch costs the host when many are made one after the other."""
    for _ in range(20):
        launch()
    samples = []
    for _ in range(7):
        device.synchronize()
        samples.append(device.timed(lambda: [launch() for _ in range(100)])[1] / 100)
    return statistics.median(samples) * 1e-9


def triton_launch_seconds(device: Any) -> float | None:
    try:
        from mtmc.device.triton_seed_kernel import run_into
    except ImportError:
        return None
    x, y = torch.zeros(64, device=device.where), torch.zeros(64, device=device.where)
    return launch_seconds(lambda: run_into(x, y), device)


def findings() -> dict[str, Any]:
    if not torch.cuda.is_available():
        return {}
    from mtmc.device.cuda import Cuda

    device = Cuda()
    facts = device.facts
    small = torch.zeros(SMALL_BYTES // 4, device=device.where)
    tiny = torch.zeros(64, device=device.where)
    library = launch_seconds(lambda: torch.add(tiny, 1.0, out=tiny), device)
    # Special functions have units of their own: 16 a cycle on each multiprocessor, an eighth of the multiply-adds.
    single = matrix_rate(device, torch.float32)
    return {
        "name": facts.name,
        "target": "triton",
        "cores": facts.multi_processor_count,
        "vector_bytes": 16,  # the widest load of a thread
        "bandwidth": device.bandwidth(),
        "cache_bandwidth": rate(device, lambda: small.add_(1.0), 2.0 * SMALL_BYTES, 32),
        "l1_bytes": facts.shared_memory_per_multiprocessor,
        "l2_bytes": facts.shared_memory_per_multiprocessor,
        "l3_bytes": facts.L2_cache_size,
        "flops_f32": single,
        "flops_special": single / 4,
        "launch_seconds": triton_launch_seconds(device) or library,
        "library_seconds": library,
        "flops_tf32": matrix_rate(device, torch.float32, tf32=True),
        "flops_f16": matrix_rate(device, torch.float16),
        "shared_bytes": facts.shared_memory_per_block_optin,
        "registers": facts.regs_per_multiprocessor,
        "capability": 10 * facts.major + facts.minor,
        "memory_bytes": facts.total_memory,
    }


if __name__ == "__main__":
    print(json.dumps(findings()))
