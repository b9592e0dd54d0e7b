// Reads Python: the methods of ModelNew (or Model) and kernels in Triton.
#pragma once
#include <string_view>
#include <vector>

#include "source/facts.h"

namespace mtmc {

// Adds what is there. Kernels in other languages are in `facts` already, so that launches of them are known.
void read_python(const SyntaxNode& root, CodeFacts& facts);
// Its strings that hold C++ or CUDA: they include a file, define a __global__ or an extern "C" function.
std::vector<Piece> cuda_pieces(const SyntaxNode& root, std::string_view text);

}  // namespace mtmc
