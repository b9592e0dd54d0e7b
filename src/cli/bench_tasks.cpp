#include "cli/bench_tasks.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "workbench/rows.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

// 19 of "level1/19_ReLU"; -1 of a name without a number.
long number_of(const std::string& task) {
  const std::string name = fs::path(task).filename();
  const size_t digits = name.find_first_not_of("0123456789");
  return digits == 0 || name.empty() ? -1 : std::atol(name.substr(0, digits).c_str());
}

// A pattern for the whole name, a number or numbers from one to another: 'level1/1_*', '19', '1-20'.
bool is_meant(const std::string& word, const std::string& task) {
  long first = 0, last = 0;
  int read = 0;
  const char* end = word.c_str() + word.size();
  const bool range = std::sscanf(word.c_str(), "%ld-%ld%n", &first, &last, &read) == 2 && word.c_str() + read == end;
  const bool one = !range && std::sscanf(word.c_str(), "%ld%n", &first, &read) == 1 && word.c_str() + read == end;
  if (!range && !one) return fnmatch(word.c_str(), task.c_str(), 0) == 0;
  const long number = number_of(task);
  return number >= first && number <= (range ? last : first);
}

// The words of an option, also those that commas part.
std::vector<std::string> apart(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const std::string& word : words)
    for (const std::string& part : split(word, ','))
      if (!part.empty()) all.push_back(part);
  return all;
}

}  // namespace

Result<std::vector<SuiteTask>> chosen_tasks(const BenchOptions& options) {
  MTMC_TRY(std::vector<SuiteTask> tasks, find_suite(options.suite)->tasks(options.root));
  const std::vector<std::string> names = apart(options.tasks), levels = apart(options.levels);
  std::vector<std::string> groups = apart(options.groups);
  if (const std::string_view usual = find_suite(options.suite)->group; groups.empty() && !usual.empty())
    groups.emplace_back(usual);
  const auto wanted = [&](const SuiteTask& task) {
    if (!groups.empty() && std::find(groups.begin(), groups.end(), group_of(task.name)) == groups.end()) return false;
    const bool level = std::any_of(levels.begin(), levels.end(),
                                   [&](const std::string& one) { return group_of(task.name) == "level" + one; });
    const bool name =
        std::any_of(names.begin(), names.end(), [&](const std::string& word) { return is_meant(word, task.name); });
    return (levels.empty() || level) && (names.empty() || name);
  };
  std::erase_if(tasks, [&](const SuiteTask& task) { return !wanted(task); });
  const auto rank_of_level = [&](const SuiteTask& task) {  // in the order of the command line
    return std::find(levels.begin(), levels.end(), group_of(task.name).substr(std::string("level").size()));
  };
  if (!levels.empty())
    std::stable_sort(tasks.begin(), tasks.end(),
                     [&](const SuiteTask& a, const SuiteTask& b) { return rank_of_level(a) < rank_of_level(b); });
  if (tasks.empty())
    return Error{"choosing tasks", "the suite has no such task",
                 "'" +
                     join(!groups.empty()  ? groups
                          : levels.empty() ? names
                                           : levels,
                          " ") +
                     "'",
                 "levels, numbers ('1-20'), or names or patterns as --list prints them ('level1/1_*')"};
  return tasks;
}

Status coder_fits(const BenchOptions& options, const std::vector<SuiteTask>& tasks) {
  const auto written_by = find_suite(options.suite)->written_by;
  const std::string& coder = options.search.bench.coder;
  for (const SuiteTask& task : tasks) {
    const std::string_view wanted = written_by == nullptr ? coder : written_by(task);
    if (wanted == "builtin" && options.goldens)
      return Error{"reading --goldens", "this task's golden code is what is optimised", task.name, "--suite G"};
    if (wanted == "builtin" && coder != wanted)
      return Error{"choosing a coder", "the suite's tests run candidates outside the judge's walls", "'" + coder + "'",
                   "builtin"};
    if (wanted == "llm" && options.untouched)
      return Error{"reading --untouched", "no program is traced for this task", task.name, "--goldens, or --suite T"};
    if (wanted == "llm" && coder != wanted && !options.goldens)
      return Error{"choosing a coder", "these tasks are instructions in words", "'" + coder + "'",
                   "--coder llm with --model, or --goldens"};
  }
  return ok_status();
}

Status rows_fit(const BenchOptions& options) {
  const fs::path file = fs::path(options.out) / "rows.jsonl";
  std::error_code code;
  if (!fs::exists(file, code)) return ok_status();
  MTMC_TRY(const TaskRows rows, read_rows(file));
  const bool measured = options.sizes == "performance";
  const Json wanted = {options.sizes, measured ? options.performance.each : 0,
                       measured ? options.performance.largest : 0};
  for (const auto& [task, row] : rows) {
    if (!row.value("error", Json()).is_null()) continue;  // it names no sizes, and is tried again
    const Json has = {row.value("sizes", "tests"), row.value("sizes_each", 0), row.value("sizes_largest", 0)};
    if (has != wanted)
      return Error{"going on with " + file.string(), "its rows are of other sizes", has.dump(),
                   wanted.dump() + ", or another --out (--sizes, --sizes-each, --sizes-largest)"};
  }
  return ok_status();
}

}  // namespace mtmc
