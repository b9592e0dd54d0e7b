// Prints kernel.py around a target's kernels: what every target has in common.
#pragma once
#include <string>
#include <vector>

#include "ops/op.h"
#include "targets/target.h"

namespace mtmc {

// One launch as the target prints it.
struct Launch {
  std::string kernel;                  // the Program's name of it: "k3"
  std::vector<ValueId> reads, writes;  // tensors it needs contiguous, tensors it fills
  std::string call;                    // Python statements, a line each; {N} stands for the Python name of value N:
                                       // "_lib.k3_relu({4}.data_ptr(), {7}.data_ptr())"
  std::string source_marker;           // text in `source` where the kernel's own lines begin, or empty
  int source_lines = 0;
};

struct ModuleParts {
  std::string imports;  // Python import lines of the target
  std::string source;   // module-level Python of the target: its kernels and how they are built
  std::vector<Launch> launches;
  Device device = Device::cpu;
  std::string_view software = "";  // what it needs beside torch, as the target's definition says
  bool graph = false;  // forward is one graph launch of a method _run, through the source's function _replay
};

// Library kernels are printed as torch calls, launches as the target says; both in the order of program.kernels.
Code print_module(const Program& program, const ModuleShell& shell, const ModuleParts& parts);

}  // namespace mtmc
