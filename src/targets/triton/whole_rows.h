// Reductions along the columns of a product whose rows, or groups of columns, one tile holds whole: norms, softmaxes
// and their like are computed in the product's launch, with all that follows them row by row.
#pragma once
#include "targets/frame.h"

namespace mtmc::triton {

constexpr int64_t kWholeRow = 256;  // columns of the widest tile

// Tells the stages behind a product that its launch can compute (GroupStage::in_tile). What a moment is taken about,
// the first element of a row, is no element of a tile: there it is zero, since a tile knows the mean before it is
// squared.
void hold_rows(Group& group);

}  // namespace mtmc::triton
