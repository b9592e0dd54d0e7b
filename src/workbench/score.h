// What the rows of a benchmark amount to, level by level, and what changed from one run of it to another.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace mtmc {

using TaskRows = std::map<std::string, Json>;  // the row of each task, by its name in the suite

// Of a task's name: "level1" of "level1/19_ReLU"; all of a name without a folder.
std::string group_of(const std::string& task);

// The speedup over eager of a task that is certified.
std::optional<double> over_eager(const Json& row);

// A Markdown table, a column for each group and one for all. Headline figures are of tasks that are not degenerate.
// fast_p: the share of them that is certified and more than p times as fast as eager (KernelBench, arXiv 2502.10517).
std::string score_table(const TaskRows& rows);

enum class Change { faster, slower, certified, lost, fails, works, added, gone };
std::string to_string(Change change);

struct Difference {
  std::string task;
  Change change = Change::faster;
  std::string before, after;  // what the two rows say, in words
  double ratio = 1;           // of the speedups over eager, where both are certified
};

struct Comparison {
  std::vector<Difference> differences;  // the largest first
  int alike = 0;                        // tasks whose speedups are the same within their intervals, or that fail twice
  double ratio = 1;                     // geometric mean over the tasks that are certified in both
  int in_both = 0;                      // how many those are
};
// A speedup has changed where its interval in one run lies wholly beyond that in the other.
Comparison compare(const TaskRows& before, const TaskRows& after);

}  // namespace mtmc
