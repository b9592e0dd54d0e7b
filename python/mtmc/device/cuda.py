"""An NVIDIA GPU as the judge's device: its clock, its caches, its memory, through the driver's own interface.

The driver is called by ctypes: what a candidate replaces in torch.cuda changes nothing here. Nothing is initialised before
a `Cuda` is made, so that a process which has only imported this can still be forked.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch

from mtmc.device.memory import POISON, release
from mtmc.wire import blobs

DRIVER = "libcuda.so.1"
FLUSH_TIMES, FLUSH_BYTES = 3, 192 << 20  # times the L2, and at least
COPY_BYTES = 1 << 30
WAKE_CALLS = 24  # short kernels: the clocks rise, and the launch path of the host is warm
WAKE_ELEMENTS = 1 << 16
HANDLE_BYTES, IPC_LAZY_PEER_ACCESS = 64, 1  # of cuIpcOpenMemHandle
FASTEST_CLOCK, QUEUE_SECONDS = 2e9, 1e-4  # Hz; while which launches are queued
PERSISTING_L2 = 0x06  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
COMPARED = 1 << 20  # elements
SMALL_BLOCKS, SMALL_BYTES = 32, 1 << 20  # of the allocator's pool for small blocks: two of them make a segment
CANDIDATE_SHARE = 0.6  # of the GPU's memory: the judge's own processes need the rest
MOST_POISONED = 32  # that part of the GPU's memory: each of several processes needs some
MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
# All words of a block's shared memory become the pattern; a while goes by, by the clock that all multiprocessors share (each
# counts cycles of its own). In the driver's own language: NVRTC takes a third of a second.
OWN_KERNELS = b"""
.version 6.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 nanoseconds) {
  .reg .pred %again;
  .reg .u64 %start, %now, %length;
  ld.param.u64 %length, [nanoseconds];
  mov.u64 %start, %globaltimer;
next:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  setp.lt.u64 %again, %now, %length;
  @%again bra next;
  ret;
}
.extern .shared .align 16 .b8 memory[];
.visible .entry fill_shared(.param .u32 words, .param .u32 pattern) {
  .reg .pred %done;
  .reg .b32 %word, %words, %pattern, %threads, %base, %place;
  ld.param.u32 %words, [words];
  ld.param.u32 %pattern, [pattern];
  mov.u32 %word, %tid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %base, memory;
next:
  setp.ge.u32 %done, %word, %words;
  @%done bra end;
  shl.b32 %place, %word, 2;
  add.u32 %place, %place, %base;
  st.volatile.shared.u32 [%place], %pattern;
  add.u32 %word, %word, %threads;
  bra next;
end:
  ret;
}
"""


class DeviceError(RuntimeError):
    """The driver refused, or a kernel failed some time before."""


def check(driver: ctypes.CDLL, code: int) -> None:
    """What a call of the driver returned: a DeviceError unless it succeeded."""
    if code:
        text = ctypes.c_char_p()
        driver.cuGetErrorString(code, ctypes.byref(text))
        raise DeviceError(f"CUDA error: {(text.value or b'unknown').decode()} ({code})")


class _Handle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_ubyte * HANDLE_BYTES),)


class _Memory:
    """Device memory that torch may look at without owning it (CUDA array interface, version 3)."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


class Cuda:
    name = "cuda"
    lends = True

    def __init__(self) -> None:
        torch.cuda.init()
        self.where = torch.device("cuda", torch.cuda.current_device())
        self.sweep: torch.Tensor | None = None
        torch.zeros(1, device=self.where)  # the context exists from here on
        self.facts = torch.cuda.get_device_properties(self.where)
        self.bytes = self.facts.total_memory
        self.driver = ctypes.CDLL(DRIVER)
        self.start, self.end = ctypes.c_void_p(), ctypes.c_void_p()
        for event in (self.start, self.end):
            self._check(self.driver.cuEventCreate(ctypes.byref(event), 0))
        self.driver.cuIpcOpenMemHandle_v2.argtypes = [ctypes.c_void_p, _Handle, ctypes.c_uint]
        self.spark = torch.zeros(WAKE_ELEMENTS, device=self.where)
        self.borrowed: dict[str, tuple[int, int]] = {}  # handle -> address here and size
        self.poisons = False
        self.module: ctypes.c_void_p | None = None  # of our own kernels
        self.own_kernels: dict[str, ctypes.c_void_p] = {}
        self.reset_l2()

    def _check(self, code: int) -> None:
        check(self.driver, code)

    def synchronize(self) -> None:
        """Waits for all streams of this process; raises what a kernel did wrong, even where the candidate hid it."""
        self._check(self.driver.cuCtxSynchronize())

    def timed(self, call: Callable[[], Any]) -> tuple[Any, int]:
        """Events on the default stream of an idle device, the end after a wait for every stream."""
        self.synchronize()
        self._check(self.driver.cuEventRecord(self.start, None))
        result = call()
        self.synchronize()
        self._check(self.driver.cuEventRecord(self.end, None))
        self._check(self.driver.cuEventSynchronize(self.end))
        elapsed = ctypes.c_float()
        self._check(self.driver.cuEventElapsedTime(ctypes.byref(elapsed), self.start, self.end))
        return result, int(elapsed.value * 1e6)

    def kernel_seconds(self, call: Callable[[], Any]) -> float:
        """Time of the device alone, with a cold L2: the launches are all made while a first kernel keeps it waiting. For
        comparing versions of a kernel; a call's own time is `timed`'s."""
        self.flush()
        self.delay(QUEUE_SECONDS)
        self._check(self.driver.cuEventRecord(self.start, None))
        call()
        self._check(self.driver.cuEventRecord(self.end, None))
        self.synchronize()
        elapsed = ctypes.c_float()
        self._check(self.driver.cuEventElapsedTime(ctypes.byref(elapsed), self.start, self.end))
        return elapsed.value * 1e-3

    def delay(self, seconds: float) -> None:
        """Keeps the current stream busy for about as long: what is launched meanwhile waits for it, if it waits."""
        if (kernel := self._own_kernels().get("wait")) is None:
            torch.cuda._sleep(int(seconds * FASTEST_CLOCK))
            return
        length = ctypes.c_uint64(int(seconds * 1e9))
        given = (ctypes.c_void_p * 1)(ctypes.addressof(length))
        stream = ctypes.c_void_p(torch._C._cuda_getCurrentRawStream(self.where.index))
        self._check(self.driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, given, None))

    def reset_l2(self) -> None:
        """No lines of the L2 are kept for anyone: all can be replaced. Chips without such lines refuse, and need none."""
        self.driver.cuCtxSetLimit(PERSISTING_L2, ctypes.c_size_t(0))
        self.driver.cuCtxResetPersistingL2Cache()

    def flush(self) -> None:
        if self.sweep is None:
            size = max(FLUSH_BYTES, FLUSH_TIMES * self.facts.L2_cache_size)
            self.sweep = torch.zeros(size // 4, device=self.where)
        self.reset_l2()
        self.sweep.add_(1.0)
        self.synchronize()

    def wake(self) -> None:
        for _ in range(WAKE_CALLS):
            self.spark.add_(1.0)
        self.synchronize()

    def place(self, span: torch.Tensor) -> dict[str, Any]:
        """`lent`: the driver's handle of the allocation, as hexadecimal text; `offset`: of the bytes in it."""
        place: dict[str, Any] = {"at": span.data_ptr(), "bytes": span.numel()}
        if not span.is_cuda or not span.numel():
            return place
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        address = ctypes.c_uint64(span.data_ptr())
        self._check(self.driver.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), address))
        handle = _Handle()
        self._check(self.driver.cuIpcGetMemHandle(ctypes.byref(handle), base))
        return {**place, "lent": bytes(handle).hex(), "offset": span.data_ptr() - base.value}

    def borrow(self, handle: str, offset: int, size: int) -> torch.Tensor:
        """The bytes that another process lends; both see the same memory. DeviceError when there is no such memory."""
        if handle not in self.borrowed:
            raw = bytes.fromhex(handle)
            if len(raw) != HANDLE_BYTES:
                raise DeviceError("no handle of another process's memory")
            base = ctypes.c_uint64()
            self._check(
                self.driver.cuIpcOpenMemHandle_v2(
                    ctypes.byref(base), _Handle.from_buffer_copy(raw), IPC_LAZY_PEER_ACCESS
                )
            )
            start, length = ctypes.c_uint64(), ctypes.c_size_t()
            self._check(self.driver.cuMemGetAddressRange_v2(ctypes.byref(start), ctypes.byref(length), base))
            self.borrowed[handle] = (base.value, length.value)
        base_address, length_there = self.borrowed[handle]
        if offset < 0 or offset + size > length_there:
            raise DeviceError("beyond the memory that another process lends")
        if not size:
            return torch.empty(0, dtype=torch.uint8, device=self.where)
        return torch.as_tensor(_Memory(base_address + offset, size), device=self.where)

    def give_back(self, beyond: float = 0, many: int = 0) -> None:
        """All that was borrowed: its owner is gone, or will be, or frees it; `beyond`, `many`: if it is more than so many bytes or
        allocations. No tensor that `borrow` gave out may be used any more."""
        if sum(size for _, size in self.borrowed.values()) <= beyond and len(self.borrowed) <= many:
            return
        self.synchronize()
        for base, _ in self.borrowed.values():
            self._check(self.driver.cuIpcCloseMemHandle(ctypes.c_uint64(base)))
        self.borrowed.clear()

    def bandwidth(self) -> float:
        source = torch.zeros(COPY_BYTES // 4, device=self.where)
        target = torch.zeros_like(source)
        best = min(self.timed(lambda: target.copy_(source))[1] for _ in range(8))
        return 2 * COPY_BYTES / (best * 1e-9)

    def confine(self) -> None:
        """A candidate that takes all memory meets its own limit before the judge's processes meet theirs. What its calls
        will need of us is made before it comes."""
        torch.cuda.set_per_process_memory_fraction(CANDIDATE_SHARE, self.where)
        self.flush()
        self._load_kernels()

    def _own_kernels(self) -> dict[str, ctypes.c_void_p]:
        """By name; none where this driver has no compiler, or on an older chip: global memory is still poisoned."""
        if self.module is None:
            self.module = ctypes.c_void_p()
            if self.driver.cuModuleLoadData(ctypes.byref(self.module), OWN_KERNELS):
                return self.own_kernels
            for name in ("fill_shared", "wait"):
                kernel = ctypes.c_void_p()
                self._check(self.driver.cuModuleGetFunction(ctypes.byref(kernel), self.module, name.encode()))
                self.own_kernels[name] = kernel
            size = self.facts.shared_memory_per_block_optin
            self._check(self.driver.cuFuncSetAttribute(self.own_kernels["fill_shared"], MOST_SHARED, size))
        return self.own_kernels

    def _load_kernels(self) -> None:
        """The GPU loads a kernel when it is first needed: those around every checked call are needed now."""
        self.poison(True)
        self.ready()
        self.poison(False)
        self.delay(0.001)
        blobs.same_bits(*torch.ones(2, COMPARED, device=self.where))
        self.synchronize()

    def poison(self, on: bool, expected_bytes: int = 0) -> None:
        """While on, `ready` fills all memory that torch's allocator may hand out. `expected_bytes`: what a call may need."""
        self.poisons = on
        if not on:
            return
        release()  # what lies there of calls on other sizes
        large = min(4 * expected_bytes + (256 << 20), max(self.bytes // MOST_POISONED, 256 << 20))
        blocks = [torch.empty(SMALL_BYTES, dtype=torch.uint8, device=self.where) for _ in range(SMALL_BLOCKS)]
        blocks.append(torch.empty(large, dtype=torch.uint8, device=self.where))
        blocks.clear()

    def clean(self) -> None:
        pass  # torch's allocator keeps what lay there

    def ready(self) -> None:
        """Called before each call of a candidate that is checked: no memory holds anything of use."""
        if not self.poisons:
            return
        self.synchronize()
        for segment in torch.cuda.memory_snapshot():
            for block in segment["blocks"]:
                if block["state"] == "inactive":
                    place, size = ctypes.c_uint64(block["address"]), ctypes.c_size_t(block["size"])
                    self._check(self.driver.cuMemsetD8_v2(place, ctypes.c_ubyte(POISON), size))
        self._poison_shared()
        self.synchronize()

    def _poison_shared(self) -> None:
        """The shared memory of all multiprocessors."""
        if (kernel := self._own_kernels().get("fill_shared")) is not None:
            size, blocks = self.facts.shared_memory_per_block_optin, 2 * self.facts.multi_processor_count
            words, pattern = ctypes.c_uint(size // 4), ctypes.c_uint(int.from_bytes(bytes([POISON]) * 4, "little"))
            given = (ctypes.c_void_p * 2)(ctypes.addressof(words), ctypes.addressof(pattern))
            self._check(self.driver.cuLaunchKernel(kernel, blocks, 1, 1, 256, 1, 1, size, None, given, None))


def persisting_l2() -> int:
    """How many bytes of the L2 this process's kernels may keep for themselves."""
    size = ctypes.c_size_t()
    ctypes.CDLL(DRIVER).cuCtxGetLimit(ctypes.byref(size), PERSISTING_L2)
    return size.value
