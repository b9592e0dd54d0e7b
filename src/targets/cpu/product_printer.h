// Prints a contraction inside a tile as a blocked product: operands packed from any expression (views, padding, fused
// pointwise code), accumulated by the prelude's matmul_block. Convolution is the same thing with windowed indices
// (implicit GEMM). After Goto & van de Geijn, "Anatomy of High-Performance Matrix Multiplication".
#pragma once
#include <optional>
#include <string>

#include "targets/cpu/tile_plan.h"

namespace mtmc {

// nullopt when the tile has no blocked form; the caller then prints plain loops. `depth`: how much of K is packed at
// once.
std::optional<std::string> print_product(const StagePlan& plan, int64_t depth);

}  // namespace mtmc
