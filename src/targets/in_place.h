#pragma once

#include "ir/program.h"

namespace mtmc {

// May torch's own call write the module's state itself (OpDef::in_place)? Where each result but the first is read by
// nobody, or is the new value of the very buffer that this call alone reads: then nobody sees the buffer between the
// call and the end of forward.
bool moves_in_place(const Program& program, const Node& node);

}  // namespace mtmc
