// Tensors on their way to a file and back.
#pragma once
#include <ATen/core/Tensor.h>

#include "checkpoint/stored.h"

namespace mtmc::lm {

FloatTensor floats_of(const at::Tensor& tensor);
// On the CPU, in fp32.
at::Tensor tensor_of(const StoredTensor& stored);

}  // namespace mtmc::lm
