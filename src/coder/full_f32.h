#pragma once
#include "base/result.h"
#include "coder/tuner.h"
#include "ir/program.h"

namespace mtmc {

// The program with kFullF32 at the nodes that eager computes in full f32 on this machine, where TF32 is allowed. A
// kernel of single f16 products would err a thousand times as much there and be refused: it is better known before the
// first step. Nodes that cannot be tried (memory) stay as they are. An Error: the tuner's process does not work.
Result<Program> with_full_f32(Program program, Tuner& tuner);

}  // namespace mtmc
