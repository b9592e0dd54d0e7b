// What `mtmc bench` is asked for.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/search_options.h"
#include "workbench/suite.h"
#include "workbench/task_worker.h"

namespace mtmc {

struct BenchOptions {
  std::string suite, root, out, ray;
  std::string of = "files", way;  // ablation: the suite; and a member's way
  std::vector<std::string> tasks, levels, groups, compared, ways;
  double budget = 0;  // seconds; 0: none
  double limit = 0;   // of a task, likewise
  int64_t jobs = 0;   // 0: one for each GPU
  std::string sizes = "tests";
  PerformanceSizes performance;
  SearchOptions search;
  bool from_store = false;  // rows of searches that the store has finished are taken from there
  bool list = false, member = false, untouched = false, goldens = false;
};

}  // namespace mtmc
