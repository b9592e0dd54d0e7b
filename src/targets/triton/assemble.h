// A kernel from its launches: what they pass on between them, and how they are called, one after the other.
#pragma once
#include <vector>

#include "targets/triton/kernel_printer.h"
#include "targets/triton/launch.h"

namespace mtmc::triton {

// `overlap`: each is scheduled before the one ahead of it has finished.
TritonKernel assemble(const Group& group, const Kernel& kernel, const std::vector<TritonLaunch>& launches,
                      bool overlap);

}  // namespace mtmc::triton
