#include "cli/bench_work.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "cli/bench_run.h"
#include "cli/bench_tasks.h"
#include "cli/verb.h"
#include "cli/watcher.h"
#include "store/store.h"
#include "workbench/crew.h"
#include "workbench/finished_searches.h"
#include "workbench/result_files.h"
#include "workbench/result_folder.h"
#include "workbench/rows.h"
#include "workbench/workbench.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

// A row without one of its baselines says nothing beside it, and would leave it out of every mean.
Status has_baselines(const Json& result, const Workbench& bench) {
  if (!bench.times() || !result.at("certified").get<bool>()) return ok_status();
  for (const std::string& name : bench.options().baselines)
    if (!result.at("speedup").contains(name))
      return Error{"timing the result beside " + name, "it has no time",
                   join(result.at("notes").get<std::vector<std::string>>(), "; "), ""};
  return ok_status();
}

// One task from its file to its result folder and its row, which says `from_store` where nothing had to be searched.
Result<Json> row_for(Workbench& bench, const BenchOptions& options, const SuiteTask& task, Store& store,
                     FinishedSearches& finished, ProgressListener& listener, TaskWorker* worker) {
  const fs::path folder = fs::path(options.out) / task.name;
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  if (worker != nullptr) {
    MTMC_TRY(Json row, worker->row(task, {bench, store, listener, folder}));
    row["suite"] = options.suite;
    return row;
  }
  MTMC_TRY(const std::optional<std::string> key, finished.key_of(task.task));
  MTMC_TRY(const auto before, options.from_store ? finished.find(key) : Result<std::optional<RunId>>(std::nullopt));
  std::optional<Optimized> done;
  if (!before) {
    MTMC_TRY(done, bench.work(task.task, listener));
  }
  const RunId run = before ? *before : done->run;
  MTMC_TRY(const ResultFiles files, result_files(store, run));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  Json result = Json::parse(files.result);
  MTMC_RETURN_IF_ERROR(has_baselines(result, bench));
  if (done) MTMC_RETURN_IF_ERROR(finished.keep(key, task.task, *done));
  Json row = row_of(options.suite, task, result);
  row["from_store"] = before.has_value();
  return row;
}

// What a member answers: {"row": ..., "bug": ...}. A bug in one task is a row like any other failure, and told in the
// exit code.
Json row_or_failure(Workbench& bench, const BenchOptions& options, const SuiteTask& task, Store& store,
                    FinishedSearches& finished, ProgressListener& listener, TaskWorker* worker) {
  Error error;
  bool is_bug = false;
  try {
    const Result<Json> row = row_for(bench, options, task, store, finished, listener, worker);
    if (row.ok()) return {{"row", *row}, {"bug", false}};
    error = row.error(), is_bug = error.ours;
  } catch (const std::exception& bug) {
    is_bug = true;
    error = {"optimising " + task.name, std::string("a bug of ours: ") + bug.what(), "", ""};
  }
  return {{"row", failed_row(options.suite, task, error)}, {"bug", is_bug}};
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
  // `next`: what it will be given then; null: nobody knows.
  Json work(const SuiteTask& task, const SuiteTask* next, ProgressListener& listener) {
    bench_->expect(next != nullptr && !worker_ && !known(*next) ? &next->task : nullptr);
    return row_or_failure(*bench_, options_, task, *store_, *finished_, listener, worker_.get());
  }

 private:
  // Will its row come from the store? What goes wrong with asking goes wrong again when it is its turn.
  bool known(const SuiteTask& task) {
    if (!options_.from_store) return false;
    const auto key = finished_->key_of(task.task);
    const auto run = key.ok() ? finished_->find(*key) : Result<std::optional<RunId>>(std::nullopt);
    return run.ok() && run->has_value();
  }
  Member(const BenchOptions& options, std::unique_ptr<Store> store, std::unique_ptr<Workbench> bench)
      : options_(options),
        store_(std::move(store)),
        bench_(std::move(bench)),
        finished_(std::make_unique<FinishedSearches>(*bench_, *store_, options.out)) {
    if (const auto make = find_suite(options.suite)->worker)
      worker_ = make({options.untouched, options.goldens,
                      options.sizes == "tests" ? std::nullopt : std::optional(options.performance)});
  }
  const BenchOptions& options_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<FinishedSearches> finished_;
  std::unique_ptr<TaskWorker> worker_;  // null: a task is one module
};

using Tasks = std::map<std::string, SuiteTask>;

Status run_here(const BenchOptions& options, const Tasks& tasks, const std::vector<std::string>& left, BenchRun& run,
                LlmAccess& llm) {
  MTMC_TRY(Member member, Member::open(options, left.size() > 1, llm));
  Watcher watcher(run.progress(), store_path(options.search.store));
  for (size_t i = 0; i < left.size() && run.begins(left[i]); ++i) {
    const SuiteTask* next = i + 1 < left.size() ? &tasks.at(left[i + 1]) : nullptr;
    const Json reply = member.work(tasks.at(left[i]), next, watcher);
    run.ended(left[i], reply.at("row"), reply.at("bug"));
  }
  return ok_status();
}

Result<int> run_as_member(const BenchOptions& options, const Tasks& tasks, LlmAccess& llm) {
  MTMC_TRY(Member member, Member::open(options, true, llm));
  Silence silence;
  serve_crew([&](const std::string& task, const std::string& next) {
    return member.work(tasks.at(task), next.empty() ? nullptr : &tasks.at(next), silence);
  });
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
              run.ended(task, failed_row(options.suite, {task, {}}, reply.error()),
                        reply.error().wrong != kTookTooLong);
          },
  };
  const TempDir folder;  // with all of theirs in it: whoever is killed removes nothing
  MTMC_TRY(const std::vector<std::string> gpus, gpus_of(options.search.bench));
  llm.keys.show();  // members ask for themselves
  const Status done = work_off(options.ray.empty() ? member_commands(command, jobs, gpus, folder.path())
                                                   : remote_commands(command, jobs, options.ray),
                               left, listener, options.limit);
  llm.keys.hide();
  return done;
}

Result<size_t> jobs_of(const BenchOptions& options) {
  if (!options.ray.empty() && options.jobs > 0) return static_cast<size_t>(options.jobs);
  if (!options.ray.empty()) return remote_places(options.ray);
  MTMC_TRY(const WorkbenchOptions bench, options.search.read());
  return jobs_beside(bench, options.jobs);
}

}  // namespace

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
  if (jobs == 1 && options.ray.empty() && options.limit == 0)  // a process of its own can be ended
    MTMC_RETURN_IF_ERROR(run_here(options, tasks, left, *run, llm));
  else if (jobs > 0)
    MTMC_RETURN_IF_ERROR(run_crew(options, jobs, left, *run, llm));
  return run->conclude(*find_suite(options.suite));
}

}  // namespace mtmc
