// A run over the tasks of a suite as it is shown and kept: lines, totals, rows.jsonl, summary.md.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/progress.h"
#include "base/result.h"
#include "workbench/rows.h"
#include "workbench/suite.h"

namespace mtmc {

class BenchRun {
 public:
  // `tasks`: their names. An Error: the folder cannot be written to, or holds something else.
  static Result<std::unique_ptr<BenchRun>> open(const std::filesystem::path& folder, std::vector<std::string> tasks,
                                                double budget_seconds);

  // Tells of the tasks that have their rows; the names of the others, in order.
  std::vector<std::string> left();
  // False, and told: the budget is spent, or rows cannot be kept any more.
  bool begins(const std::string& task);
  // `bug`: one of ours is the reason why there is no better row.
  void ended(const std::string& task, const Json& row, bool bug);
  // The suite's table with what is published below it, the pictures, and the program's exit code. An Error: something
  // could not be written.
  Result<int> conclude(const SuiteDef& suite);
  Progress& progress() { return progress_; }

 private:
  // Of the rows so far.
  struct Totals {
    int done = 0, faster = 0, failed = 0, timed = 0;
    double log_speedups = 0;
    void add(const Json& row);
    std::string text() const;
  };
  BenchRun(std::filesystem::path folder, std::vector<std::string> tasks, double budget, RowFile rows);
  std::string place(const std::string& task) const;  // "[3/250] level1/3_..."
  void show();

  std::filesystem::path folder_;
  std::vector<std::string> tasks_;
  double budget_, start_;  // seconds; no budget: 0
  RowFile rows_;
  Status kept_ = ok_status();  // of the last row
  Progress progress_{stdout};
  Totals totals_;
  std::vector<std::string> running_;
  int bugs_ = 0;
};

}  // namespace mtmc
