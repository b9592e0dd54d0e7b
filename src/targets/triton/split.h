// Reductions that run along too few rows to keep a GPU busy, as partial results of chunks and their combination.
#pragma once
#include <functional>

#include "targets/frame.h"

namespace mtmc::triton {

bool splits(const GroupStage& stage);

// `parts`: chunks of each chosen reduction; 0: as many as make enough programs.
Group split_reductions(const Group& group, const std::function<bool(const GroupStage&)>& chosen, int64_t parts);

}  // namespace mtmc::triton
