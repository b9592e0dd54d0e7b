// Reductions that run along too few rows to keep a GPU busy, as partial results of chunks and their combination.
#pragma once
#include <functional>

#include "ir/hardware.h"
#include "targets/frame.h"

namespace mtmc::triton {

constexpr int64_t kHeld = int64_t{1} << 15;  // elements of a row that a program holds at once

// Are the rows of the largest tensor that is read side by side in memory? Else lanes are rows, and columns a loop.
bool lies_together(const Group& group, const Stage& stage);

// A sum of f - c, then of (f - (c + sum / count))^2: both moments of f.
bool are_moments(const GroupStage& sum, const GroupStage& squares);
// A sum of f - mean, behind squares of it: what rounding left of the mean. The mean is c + sum / count with the same c
// for a whole row.
bool is_rest(const GroupStage& sum, const GroupStage& squares, const GroupStage& stage);

// Is this stage of the group better computed in chunks: since it runs along too few rows, or, of both moments of rows
// that no program can hold, since they are read once then instead of twice?
bool splits(const Group& group, size_t stage, const Hardware& hardware);
// Can it be? Fewer chunks are read again in vain, but a measurement may be worth it.
bool may_split(const Group& group, size_t stage, const Hardware& hardware);

// `parts`: chunks of each chosen reduction; 0: as many as make enough programs.
Group split_reductions(const Group& group, const std::function<bool(size_t)>& chosen, int64_t parts);

}  // namespace mtmc::triton
