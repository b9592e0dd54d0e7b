// Ways to search beside each other on the same tasks with the same budget, as in Table 7 of the paper (arXiv
// 2511.20100): what the policy, the strategy and the action space are worth.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "llm/ledger.h"
#include "store/store.h"
#include "workbench/score.h"
#include "workbench/way.h"

namespace mtmc {

// What a search of one task tried, in the order of its candidates.
struct Tried {
  std::vector<double> best;            // the best screened speedup over eager so far, after each candidate; at least 1
  std::map<std::string, int> refused;  // by reason
  int steps = 0;                       // of the walk to the best
};
// `nodes` of one run, in the order they were made.
Tried tried_in(const std::vector<NodeRecord>& nodes);

struct WayResult {
  Way way;
  TaskRows rows;
  std::map<std::string, Tried> tried;  // by task; not those that failed before a search began
  Spent asked;                         // what language models were asked and cost, over all tasks
};

// Markdown: a row for each way (accuracy, speedups, fast_1, what the judge refused, what models cost), then the
// geometric mean of the best speedup after so many candidates, over the tasks that all ways searched.
std::string ablation_table(const std::vector<WayResult>& results);
// The same curve as a picture.
std::string ablation_svg(const std::vector<WayResult>& results);

}  // namespace mtmc
