// A scaled copy in one pass over its source. The scale depends on the source's largest magnitude, so that two passes
// would be needed; but one usual scale suits nearly all tensors, so the copy is made with it at once, and made again
// only where the largest magnitude, found on the way, says that it does not suit.
#pragma once
#include "targets/triton/prepare.h"

namespace mtmc::triton {

Group copy_in_one_pass(const Group& group, const std::vector<ScaledCopy>& copies);

}  // namespace mtmc::triton
