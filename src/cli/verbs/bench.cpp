// `mtmc bench SUITE --root DIR`: optimises every task of a suite with everything kept warm, on all GPUs of the machine.
#include <fmt/core.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/bench_ablation.h"
#include "cli/bench_options.h"
#include "cli/bench_work.h"
#include "cli/verb.h"
#include "workbench/rows.h"
#include "workbench/score.h"

namespace mtmc {
namespace {

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const SuiteDef* suite : all_suites()) names.emplace_back(suite->name);
  return names;
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

// Options that say nothing for this suite, or contradict each other.
Status options_fit(const BenchOptions& options, bool ablation) {
  const bool functions = find_suite(options.suite)->worker != nullptr;
  const std::string suite = "'" + options.suite + "'";
  const PerformanceSizes usual;
  if (options.untouched && !functions)
    return Error{"reading --untouched", "this suite's results are searched for", suite, "tritonbench"};
  if (options.sizes == "tests" &&
      (options.performance.each != usual.each || options.performance.largest != usual.largest))
    return Error{"reading --sizes-each and --sizes-largest", "tests have their own sizes", "--sizes tests",
                 "--sizes performance"};
  if (options.sizes != "tests" && !functions)
    return Error{"reading --sizes", "this suite's tasks have one size each", suite, "tritonbench"};
  if (options.goldens && !functions)
    return Error{"reading --goldens", "this suite has no golden code", suite, "tritonbench --suite G"};
  if (options.from_store && (functions || ablation))
    return Error{"reading --from-store", "the store does not keep these rows", suite, "kernelbench, files or matmuls"};
  if (ablation && functions)
    return Error{"comparing ways to search", "a task of this suite is several searches", suite, "files or kernelbench"};
  if (ablation && !options.ray.empty())
    return Error{"comparing ways to search", "what was tried stays in the stores of other machines", "--ray", "--jobs"};
  return ok_status();
}

Result<int> bench(BenchOptions& options) {
  if (!options.compared.empty()) return print_comparison(options.compared);
  const bool ablation = options.suite == "ablation";
  if (options.out.empty()) options.out = "mtmc-out/" + options.suite + (options.sizes == "tests" ? "" : "-performance");
  if (ablation) options.suite = options.of;
  if (options.suite.empty()) return Error{"choosing a suite", "SUITE is missing", "", join(suite_names(), ", ")};
  if (find_suite(options.suite) == nullptr)
    return Error{"choosing a suite", "there is no such one", "'" + options.suite + "'", join(suite_names(), ", ")};
  if (options.root.empty() && find_suite(options.suite)->writes) options.root = options.out + "/tasks";
  if (options.root.empty())
    return Error{"opening the suite " + options.suite, "--root is missing", "", "the folder that holds it"};
  MTMC_RETURN_IF_ERROR(options_fit(options, ablation));
  if (!ablation) MTMC_RETURN_IF_ERROR(options.search.check_model());  // its ways name who asks one
  if (ablation && !options.way.empty()) options.ways = {options.way};
  MTMC_TRY(const WorkbenchOptions wanted, options.search.read());
  LlmAccess llm(wanted.llm);  // one for all ways: it takes the keys, and holds the limit of cost
  return ablation ? run_ablation(options, llm) : run_bench(options, llm);
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<BenchOptions>();
  options.optional_positional(given->suite, "SUITE",
                              join(suite_names(), ", ") + ", or ablation: --of one of them, in several ways");
  options.section("The tasks (docs/RESULTS.md)");
  options.text(given->root, "--root", "DIR",
               "the folder that holds the suite (of matmuls where its tasks are written: OUT/tasks)");
  options.words(given->levels, "--level", "N...", "of kernelbench: these levels only, in the order given (3,1)");
  options.words(given->groups, "--suite", "NAME...", "of tritonbench: T, G (T)");
  options.words(given->tasks, "--tasks", "NAME...",
                "these tasks only: numbers (1-20), or names or patterns of what --list prints");
  options.flag(given->list, "--list", "print the names of the tasks, and run none");
  options.seconds(given->budget, "--budget", "begin no further task after this time (no limit)");
  options.seconds(given->limit, "--limit",
                  "what a task may take in all; then its row says so, and the next one begins (no limit)");
  options.integer(
      given->jobs, "--jobs", 1,
      "how many tasks run at once; those on one GPU take turns timing (one for each GPU; without a GPU, one)");
  options.flag(given->from_store, "--from-store",
               "where the store has finished the very same search of a task, take its row from there");
  options.text(given->ray, "--ray", "ADDRESS",
               "work on the GPUs of a Ray cluster; auto: the one that this machine belongs to");
  options.words(given->compared, "--compare", "FILE...",
                "instead of a suite: BEFORE.jsonl AFTER.jsonl, two files of rows; print what changed");
  options.section("bench ablation: a suite searched in several ways");
  options.text(given->of, "--of", "SUITE", "the suite (files)");
  options.words(given->ways, "--ways", "WAY...",
                "POLICY/STRATEGY[/paper][@CODER], each with the same budget (greedy/rollout, random/rollout, and both "
                "with the paper's actions)");
  options.section("bench tritonbench (docs/TRITONBENCH.md)");
  options.flag(given->untouched, "--untouched", "take programs as they are traced: no search, no judge");
  options.choice(given->sizes, "--sizes", {"tests", "performance"},
                 "call functions as their tests do, or at the sizes that the benchmark measures");
  options.integer(given->performance.each, "--sizes-each", 1,
                  "how many performance sizes of each task, spread evenly, the largest among them");
  options.integer(given->performance.largest, "--sizes-largest", 1,
                  "leave out performance sizes of more bytes (a sixteenth of the memory, or of the GPU's)",
                  std::numeric_limits<int64_t>::max());
  options.flag(given->goldens, "--goldens",
               "of suite G: run the golden code itself through the same tests, without a model");
  given->search.declare(options);
  options.text(given->out, "--out", "DIR",
               "where rows.jsonl and a folder for each task go (mtmc-out/SUITE[-performance])");
  options.section("");  // what one process of --jobs tells another
  options.flag(given->member, "--member", "be one of another bench's --jobs");
  options.text(given->way, "--way", "WAY", "of a member: the one of --ways that it is for");
  return [given] { return bench(*given); };
}

}  // namespace

extern const Verb bench_def;
const Verb bench_def{
    "bench", "Optimise every task of a benchmark suite, or of a folder, and write a row of JSON for each.", declare};

}  // namespace mtmc
