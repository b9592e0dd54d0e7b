// Operands of contractions as packed tensors: the stages that make them, and contractions that read them.
#pragma once
#include <string>

#include "targets/triton/prepare.h"

namespace mtmc::triton {

// The inputs of sliding windows (convolutions), before axes are merged; stages that walk a result by phases follow it.
Prepared pack_windows(const Group& group, const std::string& precision, bool im2win);
// Whether `im2win` changes anything: channels that do not fill blocks of K.
bool may_join_windows(const Group& group);
// Everything else, after; what every contraction multiplies.
Prepared pack_operands(const Group& group, const std::string& precision);

}  // namespace mtmc::triton
