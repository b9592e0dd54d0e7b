"""What this machine's first GPU is and does, measured in a second or two: one JSON object with the fields of
src/ir/hardware.h, for `mtmc` to keep. An empty object where there is no GPU.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

SIZE = 4096  # of square matrices
SMALL_BYTES = 24 << 20  # stays in the L2
HOST_CACHE_BYTES = 8 << 20  # more than a core's own caches


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


def call_seconds(calls: list[Callable[[], Any]], device: Any) -> float:
    """What one of several calls costs the host when they are made one after the other, once: as in a call of a module, whose code
    and data the caches have lost since the call before."""
    for call in 2 * calls:
        call()
    lost = torch.zeros(HOST_CACHE_BYTES // 4)
    samples = []
    for _ in range(15):
        lost.add_(1.0)
        device.synchronize()
        samples.append(device.timed(lambda: [call() for call in calls])[1] / len(calls))
    return statistics.median(samples) * 1e-9


def torch_calls(device: Any) -> list[Callable[[], Any]]:
    """Operators as modules call them, on so little that the host is what takes the time."""
    x, w = torch.randn(8, 64, device=device.where), torch.randn(64, 64, device=device.where)
    calls: list[Callable[[], Any]] = [
        lambda: F.linear(x, w),
        lambda: F.gelu(x),
        lambda: x + w[:8],
        lambda: F.layer_norm(x, (64,)),
        lambda: F.softmax(x, dim=-1),
        lambda: x.mean(-1, keepdim=True),
        lambda: torch.rsqrt(x),
        lambda: x.pow(2),
        lambda: x * 0.5,
        lambda: torch.cat((x, x), dim=-1),
        lambda: F.relu(x),
        lambda: x.transpose(0, 1).contiguous(),
    ]
    return 2 * calls


def triton_launch_seconds(device: Any) -> float | None:
    try:
        from mtmc.device.triton_seed_kernel import run_into
    except ImportError:
        return None
    x, y = torch.zeros(64, device=device.where), torch.zeros(64, device=device.where)
    return call_seconds([lambda: run_into(x, y)] * 24, device)


def findings() -> dict[str, Any]:
    if not torch.cuda.is_available():
        return {}
    from mtmc.device.cuda import Cuda

    device = Cuda()
    torch.set_num_threads(1)  # others would spin for a while beside what is timed
    facts = device.facts
    small = torch.zeros(SMALL_BYTES // 4, device=device.where)
    library = call_seconds(torch_calls(device), device)
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
