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

}  // namespace mtmc::lm
