// Prints programs on the triton target and runs them: on the CPU by Triton's interpreter, or on the GPU.
#pragma once
#include <string>
#include <vector>

#include "targets/case_maker.h"
#include "targets/triton/kernel_printer.h"

namespace mtmc::testing {

// The case's only kernel.
TritonKernel printed(const Case& one);

// Why Triton's kernels cannot be run here; empty when they can. `device`: "cpu" (the interpreter) or "cuda".
std::string triton_is_missing(const std::string& device);

struct TritonRun {
  std::vector<std::vector<double>> outputs;  // outputs, then state updates
  std::string failure;                       // what it raised instead
  std::string text;                          // the module
};

// Runs programs (no library kernels) on double-valued leaves, in the order of each program's leaves.
std::vector<TritonRun> run_on_triton(const std::vector<Program>& programs,
                                     const std::vector<std::vector<std::vector<double>>>& leaves,
                                     const std::string& device);

// Each case's outputs are those of its definition in double.
void expect_close(const std::vector<Case>& cases, double tolerance, const std::string& device);

// Compiles every kernel of the programs ahead of time for compute capabilities 8.0, 9.0 and 10.0, without a GPU; what
// the compiler says against it, or nothing.
std::vector<std::string> compile_triton(const std::vector<Program>& programs);

}  // namespace mtmc::testing
