// A scaled copy in one pass over its source. The scale depends on the source's largest magnitude, which takes a pass of
// its own. But one usual scale suits nearly all tensors: the copy is made with it at once, and its largest magnitude is
// found on the way. Only where that says that the scale does not suit, the copy is made again.
#pragma once
#include "targets/triton/prepare.h"

namespace mtmc::triton {

Group copy_in_one_pass(const Group& group, const std::vector<ScaledCopy>& copies, const Hardware& hardware);

}  // namespace mtmc::triton
