// The part of the cost model that differs on GPUs: matrix units, whole-chip parallelism, launches that cost the host
// more than the device.
#pragma once
#include "ir/hardware.h"
#include "ir/program.h"

namespace mtmc {

struct GpuTime {
  double memory = 0, arithmetic = 0;  // seconds
  double passes = 0;                  // of what launches pass on between them: beside nothing else
  int launches = 1;
};

// Of torch's own kernels for the nodes of a library kernel.
GpuTime gpu_library_time(const Program& program, const Kernel& kernel, const Hardware& hardware);
// Of a generated kernel that moves `bytes`.
GpuTime gpu_own_time(const Program& program, const Kernel& kernel, double bytes, const Hardware& hardware);

}  // namespace mtmc
