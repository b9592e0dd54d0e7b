// Operands of contractions as packed tensors: the stages that make them, and contractions that read them.
#pragma once
#include <string>

#include "targets/triton/prepare.h"

namespace mtmc::triton {

// The inputs of sliding windows (convolutions), before axes are merged; stages that walk a result by phases follow it.
Prepared pack_windows(const Group& group, const std::string& precision, bool im2win, const Hardware& hardware);
// Whether `im2win` changes anything: channels that do not fill blocks of K.
bool may_join_windows(const Group& group, const Hardware& hardware);
// Is the right operand of this product of f32 in two parts split where it is multiplied, a block at a time? So are
// large weights that few rows are multiplied with: to write their parts and read those would cost more than the
// product. `wanted` as in Preparation.
bool splits_in_loop(const Group& group, const GroupStage& stage, int64_t wanted = -1);
// Everything else, after; what every contraction multiplies.
Prepared pack_operands(const Group& group, const Preparation& wanted, const Hardware& hardware);

}  // namespace mtmc::triton
