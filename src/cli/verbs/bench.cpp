// `mtmc bench SUITE --root DIR`: optimises every task of a suite, one after the other, with everything kept warm.
#include <fmt/core.h>
#include <fnmatch.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/search_options.h"
#include "cli/summary.h"
#include "cli/verb.h"
#include "cli/watcher.h"
#include "workbench/result_files.h"
#include "workbench/result_folder.h"
#include "workbench/rows.h"
#include "workbench/score.h"
#include "workbench/suite.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::string suite, root, out;
  std::vector<std::string> tasks, levels, compared;
  double budget = 0;  // seconds; 0: none
  SearchOptions search;
  bool list = false;
};

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const SuiteDef* suite : all_suites()) names.emplace_back(suite->name);
  return names;
}

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

Result<std::vector<SuiteTask>> chosen_tasks(const BenchOptions& options) {
  MTMC_TRY(std::vector<SuiteTask> tasks, find_suite(options.suite)->tasks(options.root));
  const std::vector<std::string> names = apart(options.tasks), levels = apart(options.levels);
  const auto wanted = [&](const SuiteTask& task) {
    const bool level = std::any_of(levels.begin(), levels.end(),
                                   [&](const std::string& one) { return group_of(task.name) == "level" + one; });
    const bool name =
        std::any_of(names.begin(), names.end(), [&](const std::string& word) { return is_meant(word, task.name); });
    return (levels.empty() || level) && (names.empty() || name);
  };
  std::erase_if(tasks, [&](const SuiteTask& task) { return !wanted(task); });
  if (tasks.empty())
    return Error{"choosing tasks", "the suite has no such task", "'" + join(levels.empty() ? names : levels, " ") + "'",
                 "levels, numbers ('1-20'), or names or patterns as --list prints them ('level1/1_*')"};
  return tasks;
}

// One task from its file to its result folder and its row.
Result<Json> row_for(Workbench& bench, const BenchOptions& options, const SuiteTask& task, Store& store,
                     ProgressListener& listener) {
  const fs::path folder = fs::path(options.out) / task.name;
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  MTMC_TRY(const TracedTask traced, bench.trace(task.task));
  MTMC_TRY(const Optimized done, bench.optimize(traced, listener));
  MTMC_TRY(const ResultFiles files, result_files(store, done.run));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  return row_of(options.suite, task, Json::parse(files.result));
}

// A bug in one task is a row like any other failure, and told in the exit code.
Json row_or_failure(Workbench& bench, const BenchOptions& options, const SuiteTask& task, Store& store,
                    ProgressListener& listener, int& bugs) {
  Error error;
  try {
    const Result<Json> row = row_for(bench, options, task, store, listener);
    if (row.ok()) return *row;
    error = row.error();
  } catch (const std::exception& bug) {
    ++bugs;
    error = {"optimising " + task.name, std::string("a bug of ours: ") + bug.what(), "", ""};
  }
  return failed_row(options.suite, task, error);
}

struct Totals {
  int done = 0, faster = 0, failed = 0;
  double log_speedups = 0;
  int timed = 0;

  void add(const Json& row) {
    ++done;
    failed += !row.at("error").is_null();
    if (!row.at("error").is_null()) return;
    faster += row.value("answer", "") == "faster";
    const Json& eager = row.at("speedup").at("eager");
    if (eager.is_number() && eager.get<double>() > 0) log_speedups += std::log(eager.get<double>()), ++timed;
  }
  std::string text() const {
    const std::string mean =
        timed == 0 ? "" : fmt::format(", {:.2f}x eager (geometric mean of {})", std::exp(log_speedups / timed), timed);
    return fmt::format("{} done, {} faster, {} failed{}", done, faster, failed, mean);
  }
};

std::string row_line(const Json& row) {
  if (!row.at("error").is_null()) return "failed: " + row.at("error").get<std::string>();
  const Json& eager = row.at("speedup").at("eager");
  const std::string answer = row.at("answer").is_string() ? row.at("answer").get<std::string>() : "unfinished";
  return eager.is_number() ? fmt::format("{}, {:.2f}x eager", answer, eager.get<double>()) : answer;
}

// What changed from one run of a suite to another.
Result<int> print_comparison(const std::vector<std::string>& files) {
  if (files.size() != 2)
    return Error{"comparing two runs", "not two files", join(files, " "), "--compare BEFORE.jsonl AFTER.jsonl"};
  MTMC_TRY(const TaskRows before, read_rows(files[0]));
  MTMC_TRY(const TaskRows after, read_rows(files[1]));
  const Comparison found = compare(before, after);
  std::map<Change, int> counts;
  for (const Difference& one : found.differences) {
    ++counts[one.change];
    fmt::print("{:<18} {}: {} -> {}{}\n", to_string(one.change), one.task, one.before.empty() ? "none" : one.before,
               one.after.empty() ? "none" : one.after, one.ratio != 1 ? fmt::format(" ({:.2f} times)", one.ratio) : "");
  }
  std::vector<std::string> words;
  for (const auto& [change, count] : counts) words.push_back(fmt::format("{} {}", count, to_string(change)));
  words.push_back(fmt::format("{} alike within their intervals", found.alike));
  fmt::print("{}\n", join(words, ", "));
  if (found.in_both > 0)
    fmt::print("{:.3f} times as fast over eager as before (geometric mean of {})\n", found.ratio, found.in_both);
  return kDone;
}

Result<int> run_bench(const BenchOptions& options) {
  MTMC_TRY(WorkbenchOptions wanted, options.search.read());
  MTMC_TRY(const std::vector<SuiteTask> tasks, chosen_tasks(options));
  wanted.many = tasks.size() > 1;
  if (options.list) {
    for (const SuiteTask& task : tasks) fmt::print("{}\n", task.name);
    return kDone;
  }
  MTMC_RETURN_IF_ERROR(ready_result_folder(options.out));
  const fs::path row_file = fs::path(options.out) / "rows.jsonl";
  MTMC_TRY(RowFile rows, RowFile::open(row_file));
  const fs::path store_file = store_path(options.search.store);
  MTMC_TRY(const auto store, open_store(store_file));
  MTMC_TRY(const auto bench, Workbench::open(wanted, *store));
  Progress progress(stdout);
  Watcher watcher(progress, store_file.string());
  Totals totals;
  const double start = now_seconds();
  int bugs = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const SuiteTask& task = tasks[i];
    const std::string place = fmt::format("[{}/{}] {}", i + 1, tasks.size(), task.name);
    if (rows.finished(task.name)) {
      totals.add(rows.rows().at(task.name));
      progress.line(place + ": " + row_line(rows.rows().at(task.name)) + " (remembered)");
      continue;
    }
    if (options.budget > 0 && now_seconds() - start > options.budget) {
      progress.line(
          fmt::format("the budget of {:.0f} s is spent: the same command goes on with {}", options.budget, task.name));
      break;
    }
    progress.line(place);
    const Json row = row_or_failure(*bench, options, task, *store, watcher, bugs);
    MTMC_RETURN_IF_ERROR(rows.append(row));
    totals.add(row);
    progress.line(fmt::format("{}: {}  [{}]", place, row_line(row), totals.text()));
    set_interrupt_note(
        fmt::format("{} rows are kept in {}; the same command goes on from there", totals.done, row_file.string()));
  }
  const std::string table = score_table(rows.rows());
  progress.line("\n" + table);
  MTMC_RETURN_IF_ERROR(write_file(fs::path(options.out) / "summary.md", table));
  progress.line(totals.text() + "; rows in " + row_file.string());
  return bugs > 0 ? kOurBug : totals.failed > 0 ? kNotBetter : kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<BenchOptions>();
  options.positional(given->suite, "SUITE", join(suite_names(), " or "));
  options.text(given->root, "--root", "DIR", "the folder that holds the suite");
  options.words(given->levels, "--level", "N...", "these levels only, of a suite that has some: 1,2");
  options.words(given->tasks, "--tasks", "NAME...",
                "these tasks only: numbers (1-20), or names or patterns as --list prints them");
  options.seconds(given->budget, "--budget", "seconds after which no further task is begun (no limit)");
  options.words(given->compared, "--compare", "FILE...", "two files of rows: print what changed, and nothing else");
  options.flag(given->list, "--list", "print the names of the tasks");
  options.text(given->out, "--out", "DIR", "where rows.jsonl and a folder for each task go (mtmc-out/SUITE)");
  given->search.declare(options);
  return [given]() -> Result<int> {
    if (!given->compared.empty()) return print_comparison(given->compared);
    if (find_suite(given->suite) == nullptr)
      return Error{"choosing a suite", "there is no such one", "'" + given->suite + "'", join(suite_names(), ", ")};
    if (given->root.empty())
      return Error{"opening the suite " + given->suite, "--root is missing", "", "the folder that holds it"};
    if (given->out.empty()) given->out = "mtmc-out/" + given->suite;
    return run_bench(*given);
  };
}

}  // namespace

extern const Verb bench_def;
const Verb bench_def{"bench", "Optimise every task of a benchmark suite; a JSON row a task, resumable.", declare};

}  // namespace mtmc
