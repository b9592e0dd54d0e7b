// `mtmc bench ablation`: a suite searched in several ways, one beside the other.
#pragma once
#include "cli/bench_options.h"
#include "coder/llm_options.h"

namespace mtmc {

// The suite searched in each way with the same budget, in a folder of its own; then all of them beside each other.
Result<int> run_ablation(const BenchOptions& options, LlmAccess& llm);

}  // namespace mtmc
