// One kernel cut out of a Program, as a Program of its own: what tuning compiles and measures, and what names a tuning.
#pragma once
#include <string>

#include "ir/hardware.h"
#include "ir/program.h"

namespace mtmc {

// The kernel alone: what it reads becomes inputs a0, a1, ... in their layout and storage, what it writes is returned.
// Ids are renumbered and locations dropped, so that isomorphic kernels of any Program give equal texts.
Program kernel_program(const Program& program, const Kernel& kernel);

// Names the tuning problem of a kernel on a machine: equal for isomorphic kernels, blind to tuned numbers.
std::string tuning_key(const Program& program, const Kernel& kernel, const Hardware& hardware);

}  // namespace mtmc
