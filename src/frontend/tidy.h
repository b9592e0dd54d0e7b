// What every imported graph goes through at the end.
#pragma once
#include "ir/program.h"

namespace mtmc {

// Drops nodes and leaves that no output or state update needs (inputs stay), merges equal constants, numbers values
// afresh (inputs, parameters, buffers, constants, results) and gives every node a library kernel.
Program tidy(Program program);

}  // namespace mtmc
