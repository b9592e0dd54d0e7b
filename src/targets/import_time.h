#pragma once

#include <set>

#include "ir/program.h"

namespace mtmc {

// Results of library kernels that depend on nothing but numbers in the text, through operators that have a definition
// (so no random numbers): masks, positions, indices. They can be made once, when the file is imported; up to 64 MiB in
// all. Not what the caller or the state gets, nor what that may be a view of: whoever gets it may write to it.
std::set<ValueId> made_at_import(const Program& program);

// Is the kernel itself run then? One of our own that makes such a value once more for itself is not.
bool runs_at_import(const Kernel& kernel, const std::set<ValueId>& made);

}  // namespace mtmc
