// A run over the tasks of a suite as it is shown and kept: lines, totals, rows.jsonl, summary.md.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/progress.h"

namespace mtmc {

class BenchRun {
 public:
  // `tasks`: their names. An Error: the folder cannot be written to, or holds something else.
  static Result<BenchRun> open(const std::filesystem::path& folder, std::vector<std::string> tasks,
                               double budget_seconds);
  BenchRun(BenchRun&&) noexcept;
  ~BenchRun();

  // Tells of the tasks that have their rows; the names of the others, in order.
  std::vector<std::string> left();
  // False, and told: the budget is spent, or rows cannot be kept any more.
  bool begins(const std::string& task);
  // `bug`: one of ours is the reason why there is no better row.
  void ended(const std::string& task, const Json& row, bool bug);
  // The table, and the program's exit code. An Error: a row could not be written.
  Result<int> conclude();
  Progress& progress();

 private:
  struct State;
  explicit BenchRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mtmc
