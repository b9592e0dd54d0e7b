// Builds the cpu target's kernels of programs with the system compiler and runs them in this process, without Python.
#pragma once
#include <string>
#include <vector>

#include "ir/program.h"

namespace mtmc::testing {

// Runs every kernel of each program (none may be a library kernel) on double-valued leaves (in the order of the
// program's leaves) and returns the values of its outputs and state updates as doubles. One compiler run for all
// programs.
std::vector<std::vector<std::vector<double>>> run_on_cpu(const std::vector<Program>& programs,
                                                         const std::vector<std::vector<std::vector<double>>>& leaves);

// A leaf's data as the target sees it: rounded to the type.
double rounded(double value, DType dtype);

}  // namespace mtmc::testing
