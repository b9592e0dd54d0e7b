// The tasks of a suite worked off: in this process, or by a crew of processes like it.
#pragma once
#include "cli/bench_options.h"
#include "coder/llm_options.h"

namespace mtmc {

// Every chosen task that has no row yet; what the rows amount to is shown and kept. The program's exit code.
Result<int> run_bench(const BenchOptions& options, LlmAccess& llm);

}  // namespace mtmc
