// Which tasks of a suite are meant, and whether they can be done as it is wished.
#pragma once
#include <vector>

#include "cli/bench_options.h"

namespace mtmc {

// Those that --level, --suite and --tasks name, or all; none is an Error.
Result<std::vector<SuiteTask>> chosen_tasks(const BenchOptions& options);
// A task whose tests are not ours is for one coder only.
Status coder_fits(const BenchOptions& options, const std::vector<SuiteTask>& tasks);
// What is remembered must be of the same sizes: rows of both would be summed up as one run.
Status rows_fit(const BenchOptions& options);

}  // namespace mtmc
