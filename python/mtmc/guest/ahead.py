"""Compiles the Triton kernels of a module without launching them: the module runs with launches that only compile."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch

from mtmc.guest.limits import Limits

PROCESSES_EACH = 4  # the C compiler's driver starts another, and that one its assembler or linker


@contextlib.contextmanager
def launches_replaced(by: Callable[..., Any]) -> Iterator[None]:
    """While inside, `by(kernel, arguments, keywords)` is called for every launch of a Triton kernel."""
    from triton.runtime import jit

    plain = jit.JITFunction.run
    jit.JITFunction.run = lambda self, *args, grid=None, warmup=False, **more: by(self, args, {**more, "grid": grid})
    try:
        yield
    finally:
        jit.JITFunction.run = plain


def workers_for(cores: int) -> int:
    """How many kernels a guest may compile at a time: each by a few processes, of which its walls allow so many."""
    return max(1, min(cores, (Limits.processes - 1) // PROCESSES_EACH))


def told_apart(argument: Any) -> Any:
    """Arguments that Triton compiles a kernel for anew have different ones, and maybe others."""
    if isinstance(argument, torch.Tensor):
        return argument.dtype, argument.data_ptr() % 16 == 0
    if hasattr(argument, "block_shape"):  # a descriptor of rectangles of a tensor
        return told_apart(argument.base), *map(tuple, (argument.shape, argument.strides, argument.block_shape))
    return type(argument), repr(argument)


def compile_only(call: Callable[[], Any], workers: int = 4) -> str:
    """Compiles what a call would launch on this machine's GPU, into Triton's cache, several kernels at a time: most of it
    happens outside Python. A hash of the binaries: two modules with the same one are the same kernels, whatever their text.
    Empty where the call launches nothing that Triton compiles: then nothing is known of its kernels.
    """
    from triton.runtime import driver, jit

    plain = jit.JITFunction.run
    driver.active.get_current_device()  # found out once, not by each thread

    def compiled(kernel: Any, args: tuple[Any, ...], more: dict[str, Any]) -> Any:
        made = plain(kernel, *args, warmup=True, **more)
        driver.active.launcher_cls(made.src, made.metadata)  # the C compiler's part
        return made

    with ThreadPoolExecutor(workers) as pool:
        made: list[tuple[Any, Future[Any]]] = []
        begun: dict[Any, Future[Any]] = {}

        def build(kernel: Any, args: tuple[Any, ...], more: dict[str, Any]) -> None:
            options = {name: value for name, value in more.items() if name != "grid"}
            key = kernel, *map(told_apart, args), repr(options)
            if key not in begun:  # layers that are alike launch one kernel
                begun[key] = pool.submit(compiled, kernel, args, more)
            made.append((more["grid"], begun[key]))

        with launches_replaced(build):
            call()
        binaries = hashlib.sha256()
        for grid, one in made:
            binaries.update(one.result().asm["cubin"])
            binaries.update(repr(grid if isinstance(grid, tuple) else "computed").encode())
    return binaries.hexdigest() if made else ""


def recorded(call: Callable[[], Any]) -> list[tuple[Any, dict[str, Any], dict[str, Any]]]:
    """What a call would launch: kernel, its arguments by name, and the options of the launch. Nothing is compiled."""
    found = []

    def note(kernel: Any, args: tuple[Any, ...], more: dict[str, Any]) -> None:
        names = [parameter.name for parameter in kernel.params]
        given = dict(zip(names, args, strict=False)) | {k: v for k, v in more.items() if k in names}
        options = {k: v for k, v in more.items() if k not in names and k != "grid"}
        found.append((kernel, given, options))

    with launches_replaced(note):
        call()
    return found


def compile_for(launch: tuple[Any, dict[str, Any], dict[str, Any]], capability: int) -> None:
    """Compiles a recorded launch for a GPU that need not be here; raises what the compiler says."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.runtime.jit import mangle_type

    kernel, given, options = launch
    constants = {p.name: given.get(p.name, p.default) for p in kernel.params if p.is_constexpr}
    signature = {p.name: "constexpr" if p.is_constexpr else mangle_type(given[p.name]) for p in kernel.params}
    source = ASTSource(kernel, signature, constexprs={(kernel.arg_names.index(k),): v for k, v in constants.items()})
    triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
