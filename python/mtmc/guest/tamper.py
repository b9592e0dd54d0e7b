"""Are the functions and the global flags of torch, time and their like still what they were before the candidate came?"""

from __future__ import annotations

import builtins
import gc
import hashlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from types import ModuleType

import torch
import torch.utils._pytree as pytree

from mtmc.device.cuda import persisting_l2

WATCHED: tuple[ModuleType | type, ...] = (
    builtins,
    gc,
    hashlib,
    json,
    os,
    random,
    statistics,
    subprocess,
    sys.modules["math"],
    time,
    torch,
    torch.Tensor,
    torch._C,
    torch._C._nn,
    torch._C.TensorBase,
    torch.autograd,
    torch.cuda,
    torch.cuda.CUDAGraph,
    torch.cuda.Event,
    torch.cuda.Stream,
    torch.cuda.StreamContext,
    torch.fft,
    torch.linalg,
    torch.nn,
    torch.nn.Module,
    torch.nn.Parameter,
    torch.nn.functional,
    torch.nn.init,
    torch.special,
    torch.testing,
    torch.utils,
    pytree,
)
# Layers whose code stands in every other module of the program that imports the candidate.
LAYERS = tuple(value for value in vars(torch.nn).values() if isinstance(value, type) and value is not torch.nn.Module)
RECURSION = sys.getrecursionlimit()
MKLDNN = [getattr(torch.backends.mkldnn, name, None) for name in ("matmul", "conv", "rnn")]
ONE, HALF_STEP, LEAST_NORMAL = [1.0], [2.0**-53], [2.0**-1022]  # in lists, so that nothing is computed beforehand
HANDLED = sorted(signal.valid_signals() - {signal.SIGCHLD})  # processes may be waited for in any way
# What Python and torch change by themselves when they are used.
OWN_CHANGES = {"_", "__warningregistry__", "__doc__", "environ", "__builtins__"}
# What the first torch.compile replaces (and the import of torch._dynamo, which takes as long as torch's). We call none of it.
COMPILING_CHANGES = {(torch, "manual_seed"), (torch.nn.Module, "__init__"), (torch.nn.Module, "__setstate__")}


def _device_state() -> dict[str, object]:
    """What the next call on the GPU would find; nothing is initialised by asking."""
    if not torch.cuda.is_initialized():
        return {}
    return {
        "current device": torch.cuda.current_device(),
        "current stream": torch.cuda.current_stream().cuda_stream,
        "graph capture": torch.cuda.is_current_stream_capturing(),
        "L2 lines that stay": persisting_l2(),
    }


def _arithmetic() -> list[str]:
    """How numbers are rounded, and whether the smallest are taken for 0: modes of the processor, for the whole thread. As text,
    since comparing goes by the same modes."""
    one, half, least = ONE[0], HALF_STEP[0], LEAST_NORMAL[0]
    return [value.hex() for value in (one + half, one - half / 2, least / 2)]


def _of_the_process() -> dict[str, object]:
    """What all code of a program goes by that never asks for it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return {
        "current folder": os.getcwd(),
        "mask of new files": mask,
        "recursion limit": sys.getrecursionlimit() >= RECURSION,  # who compiles may need more
        "switches of threads": sys.getswitchinterval(),
        "thresholds of the collector": gc.get_threshold(),
        "who hears of exceptions": (sys.excepthook, sys.unraisablehook, threading.excepthook),
    }


def _matmul_precision() -> str:
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:  # torch's two ways to set it were used to say different things
        return ""


def _global_hooks() -> int:
    """How many every module of the program runs through."""
    tables = [value for name, value in vars(torch.nn.modules.module).items() if name.startswith("_global_")]
    return sum(len(table) for table in tables if isinstance(table, dict))


def _flags() -> dict[str, object]:
    return {
        "rounding or denormal numbers": _arithmetic(),
        "number of threads": torch.get_num_threads(),
        "global hooks of modules": _global_hooks(),
        "default dtype": torch.get_default_dtype(),
        "gradients": torch.is_grad_enabled(),
        "autocast": [torch.is_autocast_enabled(where) for where in ("cpu", "cuda")],
        "garbage collection": gc.isenabled(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "filling of new memory": torch.utils.deterministic.fill_uninitialized_memory,
        "float32 matmul precision": _matmul_precision(),
        "cuda matmul TF32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn TF32": torch.backends.cudnn.allow_tf32,
        "cudnn enabled": torch.backends.cudnn.enabled,
        "cudnn benchmark": torch.backends.cudnn.benchmark,
        "cudnn deterministic": torch.backends.cudnn.deterministic,
        "cuda reduced precision": (
            torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
            torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
            torch.backends.cuda.matmul.allow_fp16_accumulation,
        ),
        "attention kernels": (
            torch.backends.cuda.flash_sdp_enabled(),
            torch.backends.cuda.mem_efficient_sdp_enabled(),
            torch.backends.cuda.math_sdp_enabled(),
            torch.backends.cuda.cudnn_sdp_enabled(),
        ),
        **_device_state(),
        "mkldnn enabled": torch.backends.mkldnn.enabled,
        "mkldnn precision": [getattr(part, "fp32_precision", "") for part in MKLDNN],
        **_of_the_process(),
        "default device": str(torch.get_default_device()),
        "tracing": (sys.gettrace() is None, sys.getprofile() is None),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "function modes": torch._C._len_torch_function_stack(),
        "signal handlers": [signal.getsignal(number) for number in HANDLED],
        "timers": [signal.getitimer(which)[0] > 0 for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL)],
    }


class Snapshot:
    """Identities by owner and name, taken before the candidate is imported; flags, once `begin` is called right before."""

    def __init__(self) -> None:
        # The objects themselves are kept, so that no other object can take over an identity.
        own = [module for name, module in sys.modules.items() if name.partition(".")[0] == "mtmc"]
        classes = [value for module in own for value in vars(module).values() if isinstance(value, type)]
        watched = dict.fromkeys(
            [*WATCHED, *LAYERS, *own, *(cls for cls in classes if cls.__module__.startswith("mtmc"))]
        )
        self.functions = [
            (
                owner.__name__,
                vars(owner),
                [
                    (k, v)
                    for k, v in vars(owner).items()
                    if k not in OWN_CHANGES and (owner, k) not in COMPILING_CHANGES and callable(v)
                ],
            )
            for owner in watched
        ]
        self.modules = {
            name: sys.modules.get(name) for name in ("torch", "time", "gc", "builtins", "torch.nn.functional")
        }
        self.begin()

    def begin(self) -> None:
        self.flags = _flags()

    def changes(self) -> list[str]:
        """`module.name` of everything that was replaced or removed, and the names of flags that have another value."""
        found = [f"sys.modules[{name}]" for name, module in self.modules.items() if sys.modules.get(name) is not module]
        for owner, now, before in self.functions:
            found += [f"{owner}.{name}" for name, value in before if now.get(name) is not value]
        flags = _flags()
        return found + [name for name, value in self.flags.items() if flags[name] != value]
