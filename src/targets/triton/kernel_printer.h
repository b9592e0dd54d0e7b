// Prints one kernel as Triton functions: its group, prepared as the schedule says, cut into launches.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/hardware.h"
#include "ir/program.h"

namespace mtmc {

struct TritonKernel {
  std::string text;                // @triton.jit functions
  std::vector<std::string> calls;  // launches, in order; {N} is value N
  // Of a launched function's name: what else than its text it is compiled for, such as its arguments' types.
  std::map<std::string, std::string> signatures;
  std::vector<std::string> scratch;  // statements that make what the launches pass on between them
  std::vector<ValueId> reads, writes;
  std::set<std::string> helpers;  // functions of triton/helpers.cpp that the text calls
  bool zeros = false;             // some of that begins as zeros
  bool tiles = false;             // some launch reads memory by rectangles (tensor descriptors)
};

// An Error says what this printer cannot do yet.
Result<TritonKernel> print_triton_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware);
// Whether that has an Error; sooner where the kernel has the best guess of its numbers.
Status can_print_triton_kernel(const Program& program, const Kernel& kernel, const Hardware& hardware);

// What the launches of a kernel pass on between them.
struct TritonPasses {
  int launches = 1;
  double bytes = 0;  // scratch written and read, each once a launch
};
// Nothing where print_triton_kernel has an Error, or the kernel is a recurrence.
std::optional<TritonPasses> triton_passes(const Program& program, const Kernel& kernel, const Hardware& hardware);

// Numbers for the kernel's main launch: those that it has or else the best guess, and behind it what its schedule says
// is to be measured ("tiled", "pipelined").
std::vector<std::map<std::string, int64_t>> triton_candidates(const Program& program, const Kernel& kernel,
                                                              const Hardware& hardware);

}  // namespace mtmc
