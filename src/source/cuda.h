// Reads C++ and CUDA: kernels, and functions that launch them.
#pragma once
#include "source/facts.h"

namespace mtmc {

void read_cuda(const SyntaxNode& root, CodeFacts& facts);

}  // namespace mtmc
