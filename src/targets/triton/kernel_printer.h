// Prints one kernel (a group in its frames) as Triton functions: one launch a frame. Pointwise frames run over a flat
// index; frames with inner axes run one program per index of the shared axes, with its rows resident in registers.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace mtmc {

struct TritonKernel {
  std::string text;                  // @triton.jit functions
  std::vector<std::string> calls;    // launches, in order; {N} is value N, _s0.. are scratch tensors
  std::vector<std::string> scratch;  // statements that make scratch tensors shared by frames
  std::vector<ValueId> reads, writes;
};

// An Error says what this printer cannot do yet.
Result<TritonKernel> print_triton_kernel(const Program& program, const Kernel& kernel);

}  // namespace mtmc
