#pragma once

#include <set>

#include "ir/program.h"

namespace mtmc {

// Results of library kernels that depend on nothing but numbers in the text, through operators that have a definition
// (so no random numbers): masks, positions, indices. They can be made once, when the file is imported; up to 64 MiB in
// all. Not what the caller or the state gets, nor what that may be a view of: whoever gets it may write to it.
std::set<ValueId> made_at_import(const Program& program);

}  // namespace mtmc
