"""Compiles the Triton kernels of a module without launching them: the module runs with launches that only compile."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import torch

from mtmc.device import kernel_calls
from mtmc.guest.limits import Limits

MOST_SECONDS = 120  # for a kernel
MOST = 8192  # kernels whose turns a pipe holds
PROCESSES_EACH = 5  # it, and the C compiler's driver, which starts another, and that one its assembler or linker


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


def key_of(kernel: Any, args: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """Launches that Triton compiles apart have different ones, and maybe others."""
    return kernel, *map(told_apart, args), repr({name: value for name, value in more.items() if name != "grid"})


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
            key = key_of(kernel, args, more)
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


def without_gpu(driver: Any) -> Any:
    """What compiling asks Triton's driver of this machine's GPU, for a process that must not use the GPU: a forked one."""
    device, target = driver.get_current_device(), driver.get_current_target()
    utils = vars(getattr(driver, "utils", SimpleNamespace()))  # Triton 3.9's launchers take functions of theirs
    properties = utils["get_device_properties"](device) if utils else {}
    return SimpleNamespace(
        get_current_device=lambda: device,
        get_current_stream=lambda _=0: 0,
        get_current_target=lambda: target,
        launcher_cls=driver.launcher_cls,
        utils=SimpleNamespace(**utils | {"get_device_properties": lambda _: properties}),
    )


def in_processes(work: Sequence[Callable[[], Any]], most: int, begin: Callable[[], None]) -> list[Callable[[], Any]]:
    """Has forked processes do the pieces of work, each the next one that nobody has begun; `begin` is called first in each.
    Returns the pieces that are left undone: those that raised something, or whose process died."""
    (turns, give), (done, tell) = os.pipe(), os.pipe()
    os.write(give, b"".join(i.to_bytes(2, "little") for i in range(len(work))))
    os.close(give)
    children = []
    for _ in range(min(most, len(work))):
        if child := os.fork():
            children.append(child)
            continue
        try:
            kernel_calls.prctl(kernel_calls.SET_PDEATHSIG, signal.SIGKILL)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            begin()
            while turn := os.read(turns, 2):
                signal.alarm(MOST_SECONDS)  # it ends, should a lock that a thread held when it was forked never open
                with contextlib.suppress(Exception):  # it is met again where the piece is done after all
                    work[int.from_bytes(turn, "little")]()
                    os.write(tell, turn)
        finally:
            os._exit(0)
    os.close(tell)
    for child in children:
        os.waitpid(child, 0)
    finished = {int.from_bytes(turn, "little") for turn in iter(lambda: os.read(done, 2), b"")}
    os.close(turns), os.close(done)
    return [piece for i, piece in enumerate(work) if i not in finished]


def compile_ahead(call: Callable[[], Any], workers: int) -> None:
    """Compiles what a call would launch on this machine's GPU, into Triton's cache, in processes of their own. (By threads of one
    process a network of 255 kernels took 24 s.) Raises what a kernel's compiler says."""
    from triton.runtime import driver, jit

    plain = jit.JITFunction.run
    distinct: dict[Any, Callable[[], Any]] = {}  # layers that are alike launch one kernel

    def note(kernel: Any, args: tuple[Any, ...], more: dict[str, Any]) -> None:
        def compiled() -> None:
            made = plain(kernel, *args, warmup=True, **more)
            driver.active.launcher_cls(made.src, made.metadata)  # the C compiler's part

        distinct.setdefault(key_of(kernel, args, more), compiled)

    with launches_replaced(note):
        call()
    apart, pieces = without_gpu(driver.active), list(distinct.values())
    left = in_processes(pieces[:MOST], workers, lambda: driver.set_active(apart)) if len(pieces) > 1 else pieces
    with ThreadPoolExecutor(workers) as pool:  # should processes be of no use, with another Triton or driver
        list(pool.map(lambda piece: piece(), left + pieces[MOST:]))


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
