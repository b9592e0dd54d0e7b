// From the tracer's JSON (python/mtmc/trace/trace.py) to a Program: every traced call becomes the operator whose rule
// fits it, or a `library` node that carries the torch call as text.
#pragma once
#include "base/json.h"
#include "base/result.h"
#include "ir/program.h"
#include "targets/target.h"

namespace mtmc {

// A traced module: what it computes, and what the printed module needs beside that.
struct Traced {
  Program program;  // one library kernel per node: what eager PyTorch does
  ModuleShell shell;
};

// Errors: the tracer's refusal, in its own four parts. The result is verified, its types agree with torch's, dead nodes
// and copies are gone, and ids count up from 0: inputs, parameters, buffers, constants, results.
Result<Traced> import_trace(const Json& traced);

}  // namespace mtmc
