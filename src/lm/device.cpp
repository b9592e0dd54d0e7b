#include "lm/device.h"

#include <ATen/Context.h>
#include <dlfcn.h>
#include <malloc.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace mtmc::lm {

Result<Placement> find_placement(const std::string& device, const std::string& dtype) {
  Placement placement;
  const std::string choosing = "choosing a device";
  if (dtype != "fp32" && dtype != "bf16") return Error{choosing, "unknown dtype", dtype, "fp32 or bf16"};
  placement.dtype = dtype == "bf16" ? at::kBFloat16 : at::kFloat;
  if (device == "cpu") return placement;
  int index = 0;
  const bool numbered = device.starts_with("cuda:");
  const auto read = std::from_chars(device.data() + (numbered ? 5 : 0), device.data() + device.size(), index);
  if (device != "cuda" &&
      (!numbered || read.ec != std::errc() || read.ptr != device.data() + device.size() || index < 0))
    return Error{choosing, "unknown device", device, "cpu, cuda or cuda:N"};
  // Before anything else asks torch about GPUs: it remembers the answer.
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    return Error{choosing, "torch has no CUDA here", dlerror(), "cpu, or a PyTorch built for CUDA"};
  if (!at::hasCUDA() || static_cast<int>(at::detail::getCUDAHooks().deviceCount()) <= index)
    return Error{choosing, "no such GPU", device, "a GPU that nvidia-smi -L lists"};
  at::globalContext().lazyInitDevice(at::kCUDA);
  placement.device = at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index));
  return placement;
}

bool computes_in_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;  // all that have AMX's do
#else
  return false;
#endif
}

void keep_freed_memory() {
  constexpr int kOneGigabyte = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kOneGigabyte), mallopt(M_TRIM_THRESHOLD, kOneGigabyte);
}

void leave(int code) {
  std::fflush(nullptr);
  std::cout.flush();
  std::_Exit(code);
}

}  // namespace mtmc::lm
