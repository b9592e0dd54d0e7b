// Prints one kernel (a group in its frames) as a C++ function.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/hardware.h"
#include "ir/program.h"
#include "targets/frame.h"

namespace mtmc {

struct CpuKernel {
  std::string name;                // the C function
  std::string text;                // its definition
  std::vector<ValueId> arguments;  // one pointer each: reads, then writes
  std::vector<ValueId> reads, writes;
};

Result<CpuKernel> print_cpu_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware);

// What the printer would use where a kernel has no numbers: "tile0".. (elements of shared axis 0.. of the first frame a
// tile), "unroll", "depth" (K block).
std::map<std::string, int64_t> default_numbers(const Group& group, const Frame& frame, const Kernel& kernel,
                                               const Hardware& hardware);

}  // namespace mtmc
