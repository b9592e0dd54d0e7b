"""CUDA C++ that NVRTC compiles when it is first needed, launched through the driver.

task: tests/tasks/gated.py
tier: certify
needs: cuda
"""

import ctypes
from pathlib import Path

import torch
import torch.nn as nn

SOURCE = r"""
extern "C" __global__ void gated(const float* x, float* y, long long count) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < count) y[i] = x[i] / (1.0f + expf(-1.5f * x[i])) + 0.5f;
}
"""


class Cuda:
    """The extern "C" kernels of a CUDA C++ text, compiled by NVRTC for this GPU when the first one is launched.

    cuda(name, blocks, threads, *arguments, shared=0) launches one on the current stream. Tensors arrive as pointers,
    ints as long long, floats as float; blocks and threads are tuples of up to three numbers."""

    def __init__(self, source):
        self.source, self.module, self.kernels = source, None, {}

    def __call__(self, name, blocks, threads, *arguments, shared=0):
        if (name, shared) not in self.kernels:
            self.kernels[name, shared] = self.load(name, shared)
        values = [x.data_ptr() if isinstance(x, torch.Tensor) else x for x in arguments]
        values = [ctypes.c_float(x) if isinstance(x, float) else ctypes.c_longlong(x) for x in values]
        places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        sizes = *(*blocks, 1, 1)[:3], *(*threads, 1, 1)[:3], shared
        self.check(self.driver.cuLaunchKernel(self.kernels[name, shared], *sizes, stream, places, None))

    def load(self, name, shared):
        kernel, maximum_dynamic_shared = ctypes.c_void_p(), 8
        if self.module is None:
            self.driver, self.module, cubin = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), self.compile()
            self.check(self.driver.cuModuleLoadData(ctypes.byref(self.module), cubin))
        self.check(self.driver.cuModuleGetFunction(ctypes.byref(kernel), self.module, name.encode()))
        self.check(self.driver.cuFuncSetAttribute(kernel, maximum_dynamic_shared, shared))
        return kernel

    def check(self, failed):
        if failed:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(failed, ctypes.byref(text))
            raise RuntimeError(f"CUDA error: {(text.value or b'unknown').decode()} ({failed})")

    def compile(self):
        packages, name = Path(torch.__file__).parents[1], f"libnvrtc.so.{torch.version.cuda.partition('.')[0]}"
        nvrtc = ctypes.CDLL(str(next(packages.glob(f"nvidia/*/lib/{name}"), name)))
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), self.source.encode(), b"kernels.cu", 0, None, None)
        headers = [*packages.glob("nvidia/*/include"), "/usr/local/cuda/include"]
        arch = "sm_{}{}".format(*torch.cuda.get_device_capability())
        options = [f"--gpu-architecture={arch}", "--std=c++17", *(f"--include-path={path}" for path in headers)]
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        failed = nvrtc.nvrtcCompileProgram(program, len(options), words)
        wanted = "ProgramLog" if failed else "CUBIN"
        getattr(nvrtc, f"nvrtcGet{wanted}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{wanted}")(program, text)
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        if failed:
            raise RuntimeError("compiling the kernels of this file failed:\n" + text.value.decode())
        return text


CUDA = Cuda(SOURCE)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        CUDA("gated", (-(-x.numel() // 256),), (256,), x, y, x.numel())
        return y
