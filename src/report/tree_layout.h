// A run's tree as rows of a log graph: one row an attempt, the best path straight down the first lane, everything else
// in lanes to its right. A lane left of a row's own always passes it.
#pragma once
#include <vector>

#include "report/report_data.h"

namespace mtmc {

struct TreeRow {
  const NodeRecord* node = nullptr;
  int lane = 0;
  bool branches = false;  // comes from the lane to its left instead of the row above in its own
  bool goes_on = false;   // its lane continues below
  bool on_path = false;   // on the way from the start to the result
};

// Points into `data`.
std::vector<TreeRow> tree_rows(const ReportData& data);

}  // namespace mtmc
