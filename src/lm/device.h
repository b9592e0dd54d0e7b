// Where a model lives and in which numbers it computes.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>

#include "base/result.h"

namespace mtmc::lm {

struct Placement {
  at::Device device = at::kCPU;
  at::ScalarType dtype = at::kFloat;
};

// `device`: cpu, cuda or cuda:N; `dtype`: fp32 or bf16. Loads libtorch_cuda.so when a GPU is asked for; an Error where
// this torch has none or no GPU answers.
Result<Placement> find_placement(const std::string& device, const std::string& dtype);

// Has the processor instructions for products of bf16?
bool computes_in_bf16();

// Memory that was freed is kept for the next tensor: to map and unmap each large one takes a tenth of a pass.
void keep_freed_memory();

// Ends the process once its output is written, without the destructors of what is static: in a PyTorch built for CUDA
// (seen with 2.11+cu130, whether a GPU was used or not) these free what is not theirs, and the process aborts.
[[noreturn]] void leave(int code);

}  // namespace mtmc::lm
