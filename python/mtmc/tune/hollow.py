"""Memory of the GPU that holds nothing, for processes that compile: a kernel file makes its tensors there as anywhere, and nobody
computes with them. All addresses of a tensor lead to the same few megabytes, so that whatever is written somewhere else is right
nowhere and harms nothing (CUDA's virtual memory management: one allocation, mapped again and again).
"""

from __future__ import annotations

import ctypes
import sys

import torch

from mtmc.device.cuda import DRIVER, DeviceError, check

CHUNK_BYTES = 64 << 20  # that there are; a multiple of what the driver maps
PINNED, ON_DEVICE, READ_WRITE = (
    1,
    1,
    3,
)  # CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("handle_metadata", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):  # CUmemAccessDesc
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class Hollow:
    """Gives out addresses. Made before anything else of CUDA."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL(DRIVER)
        self.sizes: dict[int, int] = {}  # by address
        self.device, self.context, self.chunk = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
        self._check(self.driver.cuInit(0))
        self._check(self.driver.cuDeviceGet(ctypes.byref(self.device), 0))
        self._check(self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), self.device))
        self._check(self.driver.cuCtxSetCurrent(self.context))
        self.location = _Location(ON_DEVICE, self.device.value)
        properties = _Properties(PINNED, 0, self.location, None)
        size = ctypes.c_size_t(CHUNK_BYTES)
        self._check(
            self.driver.cuMemCreate(ctypes.byref(self.chunk), size, ctypes.byref(properties), ctypes.c_uint64(0))
        )

    def allocate(self, size: int) -> int:
        whole = ctypes.c_size_t(-(-max(size, 1) // CHUNK_BYTES) * CHUNK_BYTES)
        address = ctypes.c_uint64()
        self._check(self.driver.cuCtxSetCurrent(self.context))  # whichever thread asks
        nought = ctypes.c_uint64(0)
        self._check(self.driver.cuMemAddressReserve(ctypes.byref(address), whole, ctypes.c_size_t(0), nought, nought))
        for start in range(0, whole.value, CHUNK_BYTES):
            place = ctypes.c_uint64(address.value + start)
            self._check(
                self.driver.cuMemMap(place, ctypes.c_size_t(CHUNK_BYTES), ctypes.c_size_t(0), self.chunk, nought)
            )
        access = _Access(self.location, READ_WRITE)
        self._check(self.driver.cuMemSetAccess(address, whole, ctypes.byref(access), ctypes.c_size_t(1)))
        self.sizes[address.value] = whole.value
        return address.value

    def free(self, address: int) -> None:
        size = ctypes.c_size_t(self.sizes.pop(address))
        self._check(self.driver.cuMemUnmap(ctypes.c_uint64(address), size))
        self._check(self.driver.cuMemAddressFree(ctypes.c_uint64(address), size))

    def _check(self, code: int) -> None:
        check(self.driver, code)


KEPT: list[object] = []  # what torch calls must not go away


def install() -> None:
    """From now on torch's memory on the GPU is hollow, in a process that has not used the GPU."""
    if KEPT:
        return
    hollow = Hollow()

    # Called from C: what is raised goes nowhere, so torch gets no memory and says so.
    def allocate(size: int, _device: int, _stream: int | None) -> int | None:
        try:
            return hollow.allocate(size) if size else None
        except DeviceError as error:
            print(f"mtmc: compiling a kernel: {size} bytes of addresses: {error}", file=sys.stderr)
            return None

    def free(address: int | None, _size: int, _device: int, _stream: int | None) -> None:
        if address:
            hollow.free(address)

    of_torch = ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p
    calls = (
        ctypes.CFUNCTYPE(ctypes.c_void_p, *of_torch)(allocate),
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, *of_torch)(free),
    )
    made = torch._C._cuda_customAllocator(*(ctypes.cast(call, ctypes.c_void_p).value for call in calls))
    torch._C._cuda_changeCurrentAllocator(made)
    KEPT.extend((hollow, calls, made))
