// `mtmc bench SUITE --root DIR`: optimises every task of a suite with everything kept warm, on all GPUs of the machine.
#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/cores.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "cli/bench_run.h"
#include "cli/search_options.h"
#include "cli/verb.h"
#include "cli/watcher.h"
#include "ir/hardware.h"
#include "targets/target.h"
#include "workbench/ablation.h"
#include "workbench/crew.h"
#include "workbench/result_files.h"
#include "workbench/result_folder.h"
#include "workbench/rows.h"
#include "workbench/score.h"
#include "workbench/suite.h"
#include "workbench/task_worker.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::string suite, root, out, ray;
  std::string of = "files", way;  // ablation: the suite; and a member's way
  std::vector<std::string> tasks, levels, groups, compared, ways;
  double budget = 0;  // seconds; 0: none
  int64_t jobs = 0;   // 0: one for each GPU
  std::string sizes = "tests";
  PerformanceSizes performance;
  SearchOptions search;
  bool list = false, member = false, untouched = false, goldens = false;
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

// A task whose tests are not ours is for one coder only.
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

// What is remembered must be of the same sizes: rows of both would be summed up as one run.
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

// A row without one of its baselines says nothing beside it, and would leave it out of every mean.
Status has_baselines(const Json& result, const Workbench& bench) {
  if (!bench.times() || !result.at("certified").get<bool>()) return ok_status();
  for (const std::string& name : bench.options().baselines)
    if (!result.at("speedup").contains(name))
      return Error{"timing the result beside " + name, "it has no time",
                   join(result.at("notes").get<std::vector<std::string>>(), "; "), ""};
  return ok_status();
}

// One task from its file to its result folder and its row.
Result<Json> row_for(Workbench& bench, const BenchOptions& options, const SuiteTask& task, Store& store,
                     ProgressListener& listener, TaskWorker* worker) {
  const fs::path folder = fs::path(options.out) / task.name;
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  if (worker != nullptr) {
    MTMC_TRY(Json row, worker->row(task, {bench, store, listener, folder}));
    row["suite"] = options.suite;
    return row;
  }
  MTMC_TRY(const Optimized done, bench.work(task.task, listener));
  MTMC_TRY(const ResultFiles files, result_files(store, done.run));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  Json result = Json::parse(files.result);
  MTMC_RETURN_IF_ERROR(has_baselines(result, bench));
  return row_of(options.suite, task, result);
}

// What a member answers: {"row": ..., "bug": ...}. A bug in one task is a row like any other failure, and told in the
// exit code.
Json row_or_failure(Workbench& bench, const BenchOptions& options, const SuiteTask& task, Store& store,
                    ProgressListener& listener, TaskWorker* worker) {
  Error error;
  bool is_bug = false;
  try {
    const Result<Json> row = row_for(bench, options, task, store, listener, worker);
    if (row.ok()) return {{"row", *row}, {"bug", false}};
    error = row.error();
  } catch (const std::exception& bug) {
    is_bug = true;
    error = {"optimising " + task.name, std::string("a bug of ours: ") + bug.what(), "", ""};
  }
  return {{"row", failed_row(options.suite, task, error)}, {"bug", is_bug}};
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

// Everything that stays warm from one task to the next, in this process.
class Member {
 public:
  static Result<Member> open(const BenchOptions& options, bool many, LlmAccess& llm) {
    MTMC_TRY(WorkbenchOptions wanted, options.search.read());
    wanted.many = many;
    MTMC_TRY(auto store, open_store(store_path(options.search.store)));
    MTMC_TRY(auto bench, Workbench::open(wanted, *store, llm));
    return Member(options, std::move(store), std::move(bench));
  }
  Json work(const SuiteTask& task, ProgressListener& listener) {
    return row_or_failure(*bench_, options_, task, *store_, listener, worker_.get());
  }

 private:
  Member(const BenchOptions& options, std::unique_ptr<Store> store, std::unique_ptr<Workbench> bench)
      : options_(options), store_(std::move(store)), bench_(std::move(bench)) {
    if (const auto make = find_suite(options.suite)->worker)
      worker_ = make({options.untouched, options.goldens,
                      options.sizes == "tests" ? std::nullopt : std::optional(options.performance)});
  }
  const BenchOptions& options_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<TaskWorker> worker_;  // null: a task is one module
};

using Tasks = std::map<std::string, SuiteTask>;

Status run_here(const BenchOptions& options, const Tasks& tasks, const std::vector<std::string>& left, BenchRun& run,
                LlmAccess& llm) {
  MTMC_TRY(Member member, Member::open(options, left.size() > 1, llm));
  Watcher watcher(run.progress(), store_path(options.search.store));
  for (const std::string& task : left) {
    if (!run.begins(task)) break;
    const Json reply = member.work(tasks.at(task), watcher);
    run.ended(task, reply.at("row"), reply.at("bug"));
  }
  return ok_status();
}

Result<int> run_as_member(const BenchOptions& options, const Tasks& tasks, LlmAccess& llm) {
  MTMC_TRY(Member member, Member::open(options, true, llm));
  Silence silence;
  serve_crew([&](const std::string& task) { return member.work(tasks.at(task), silence); });
  return kDone;
}

Status run_crew(const BenchOptions& options, size_t jobs, const std::vector<std::string>& left, BenchRun& run,
                const LlmAccess& llm) {
  MTMC_TRY(std::vector<std::string> command, own_command());
  command.emplace_back("--member");
  if (!options.way.empty()) command.insert(command.end(), {"--way", options.way});
  const CrewListener listener{
      .begins = [&](const std::string& task) { return run.begins(task); },
      .ended =
          [&](const std::string& task, const Result<Json>& reply) {
            if (reply.ok())
              run.ended(task, reply->at("row"), reply->at("bug"));
            else
              run.ended(task, failed_row(options.suite, {task, {}}, reply.error()), true);
          },
  };
  const TempDir folder;  // with all of theirs in it: whoever is killed removes nothing
  MTMC_TRY(const std::vector<std::string> gpus, gpus_of(options.search.bench));
  llm.keys.show();  // members ask for themselves
  const Status done = work_off(options.ray.empty() ? member_commands(command, jobs, gpus, folder.path())
                                                   : remote_commands(command, jobs, options.ray),
                               left, listener);
  llm.keys.hide();
  return done;
}

Result<size_t> jobs_of(const BenchOptions& options) {
  if (!options.ray.empty() && options.jobs > 0) return static_cast<size_t>(options.jobs);
  if (!options.ray.empty()) return remote_places(options.ray);
  MTMC_TRY(const WorkbenchOptions bench, options.search.read());
  return jobs_beside(bench, options.jobs);
}

Result<int> run_bench(const BenchOptions& options, LlmAccess& llm) {
  MTMC_TRY(const std::vector<SuiteTask> chosen, chosen_tasks(options));
  std::vector<std::string> names;
  Tasks tasks;
  for (const SuiteTask& task : chosen) names.push_back(task.name), tasks.emplace(task.name, task);
  if (options.list) {
    fmt::print("{}\n", join(names, "\n"));
    return kDone;
  }
  MTMC_RETURN_IF_ERROR(options.search.read());
  MTMC_RETURN_IF_ERROR(coder_fits(options, chosen));
  if (options.member) return run_as_member(options, tasks, llm);
  MTMC_TRY(const size_t wanted, jobs_of(options));
  MTMC_RETURN_IF_ERROR(rows_fit(options));
  MTMC_TRY(const auto run, BenchRun::open(options.out, names, options.budget));
  const std::vector<std::string> left = run->left();
  const size_t jobs = std::min(wanted, left.size());
  if (jobs == 1 && options.ray.empty())
    MTMC_RETURN_IF_ERROR(run_here(options, tasks, left, *run, llm));
  else if (jobs > 0)
    MTMC_RETURN_IF_ERROR(run_crew(options, jobs, left, *run, llm));
  return run->conclude(*find_suite(options.suite));
}

// What the rows of one way amount to, with what each search tried.
Result<WayResult> way_result(const Way& way, const fs::path& folder, Store& store) {
  WayResult result{way, {}, {}, {}};
  MTMC_TRY(result.rows, read_rows(folder / "rows.jsonl"));
  for (const auto& [task, row] : result.rows) {
    if (!row.contains("run") || !row.at("run").is_number()) continue;
    MTMC_TRY(const std::vector<NodeRecord> nodes, store.nodes(row.at("run").get<RunId>()));
    result.tried.emplace(task, tried_in(nodes));
    if (const Json account = row.value("account", Json()); account.is_object()) {
      result.asked = result.asked + spent_from_json(account);
    }
  }
  return result;
}

std::string folder_of(const Way& way) {
  std::string name = way.text();
  for (const char* sign : {"/", ":", "@", ","}) name = replace_all(name, sign, "-");
  return name;
}

// The suite searched in each way with the same budget, in a folder of its own; then all of them beside each other.
Result<int> run_ablation(const BenchOptions& options, LlmAccess& llm) {
  std::vector<std::string> words = options.ways;
  if (words.empty()) words = {"greedy/rollout", "random/rollout", "greedy/rollout/paper", "random/rollout/paper"};
  std::vector<Way> ways;
  for (const std::string& word : words) {
    MTMC_TRY(Way way, parse_way(word));
    ways.push_back(std::move(way));
  }
  int worst = kDone;
  std::vector<WayResult> results;
  for (const Way& way : ways) {
    BenchOptions one = options;
    one.suite = options.of, one.way = way.text();
    one.out = fs::path(options.out) / folder_of(way);
    one.search.search_by(way);
    if (!options.list && !options.member) fmt::print("{}\n", way.text());
    MTMC_TRY(const int code, run_bench(one, llm));
    worst = std::max(worst, code);
    if (options.list || options.member) return code;
    MTMC_TRY(const auto store, open_store(store_path(options.search.store), OpenFor::reading));
    MTMC_TRY(WayResult result, way_result(way, one.out, *store));
    results.push_back(std::move(result));
  }
  const std::string table = ablation_table(results);
  MTMC_RETURN_IF_ERROR(write_file(fs::path(options.out) / "ablation.md", table));
  MTMC_RETURN_IF_ERROR(write_file(fs::path(options.out) / "ablation.svg", ablation_svg(results)));
  fmt::print("\n{}\nin {}\n", table, (fs::path(options.out) / "ablation.md").string());
  return worst;
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
  if (ablation && !options.way.empty()) options.ways = {options.way};
  MTMC_TRY(const WorkbenchOptions wanted, options.search.read());
  LlmAccess llm(wanted.llm);  // one for all ways: it takes the keys, and holds the limit of cost
  return ablation ? run_ablation(options, llm) : run_bench(options, llm);
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<BenchOptions>();
  options.optional_positional(given->suite, "SUITE",
                              join(suite_names(), ", ") + ", or ablation: --of one of them, in several ways");
  options.text(given->root, "--root", "DIR",
               "the folder that holds the suite (of matmuls: where its tasks are written; OUT/tasks)");
  options.words(given->levels, "--level", "N...", "these levels only, of a suite that has some: 1,2");
  options.words(given->groups, "--suite", "NAME...",
                "these parts only, of a suite that has some: T (tritonbench's, where none is named), G");
  options.words(given->tasks, "--tasks", "NAME...",
                "these tasks only: numbers (1-20), or names or patterns as --list prints them");
  options.seconds(given->budget, "--budget", "seconds after which no further task is begun (no limit)");
  options.integer(
      given->jobs, "--jobs", 1,
      "tasks beside each other, each with processors of its own; those on one GPU take turns timing (one for each GPU; "
      "without, one)");
  options.text(
      given->ray, "--ray", "ADDRESS",
      "on the GPUs of a Ray cluster (auto: the one that this machine belongs to); paths must hold on all machines");
  options.words(given->compared, "--compare", "FILE...",
                "instead of a suite: two files of rows, BEFORE.jsonl AFTER.jsonl; print what changed");
  options.text(given->of, "--of", "SUITE", "ablation: the suite (files)");
  options.words(given->ways, "--ways", "WAY...",
                "ablation: POLICY/STRATEGY[/paper][@CODER], one after the other with the same budget "
                "(greedy/rollout, random/rollout, and both with the paper's actions)");
  options.text(given->way, "--way", "WAY", "of a member: the one of --ways that it is for");
  options.flag(given->list, "--list", "print the names of the tasks");
  options.flag(given->untouched, "--untouched",
               "tritonbench only: programs as they are traced, not searched or judged");
  options.choice(given->sizes, "--sizes", {"tests", "performance"},
                 "tritonbench only: call each function as its tests do, or at the sizes that the benchmark measures it "
                 "at (of --suite G to time what is right, beside the golden code)");
  options.integer(given->performance.each, "--sizes-each", 1,
                  "of --sizes performance: so many of each task, spread evenly, the largest among them");
  options.integer(given->performance.largest, "--sizes-largest", 1,
                  "of --sizes performance: leave out what takes more bytes for arguments and results (a sixteenth of "
                  "the memory, the GPU's where that is less)");
  options.flag(given->goldens, "--goldens",
               "tritonbench --suite G only: the golden code itself through the same tests, without a model");
  options.flag(given->member, "--member", "be one of another bench's --jobs, which tells it what to do");
  options.text(given->out, "--out", "DIR",
               "where rows.jsonl and a folder for each task go (mtmc-out/SUITE, mtmc-out/SUITE-performance)");
  given->search.declare(options);
  return [given] { return bench(*given); };
}

}  // namespace

extern const Verb bench_def;
const Verb bench_def{"bench", "Optimise every task of a benchmark suite; a JSON row a task, resumable.", declare};

}  // namespace mtmc
