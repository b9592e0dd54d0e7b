// `mtmc collect`: explores tasks in several ways, judging at the screen tier, and keeps every attempt in the store for
// a policy to learn from. What was explored already is not explored again: the same command goes on.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/progress.h"
#include "base/source_text.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/verb.h"
#include "ir/hardware.h"
#include "store/transfer.h"
#include "workbench/crew.h"
#include "workbench/suite.h"
#include "workbench/way.h"
#include "workbench/workbench.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLedger = "collected";               // what the store remembers finished explorations under,
constexpr const char* kElsewhere = "collected by others";  // and those of a cluster

struct CollectOptions {
  std::vector<std::string> roots, ways;
  WorkbenchOptions bench;
  std::string judge = "auto", store, ray;
  int64_t seed = 0, steps = 8, evaluations = 16, jobs = 0;  // jobs: 0, one for each GPU
  double budget = 0;                                        // seconds; 0: none
  bool member = false, sends = false;  // sends: its answers hold the runs, for a store on another machine
};

// A way with the seed that it is gone with.
struct Exploration {
  Way way;
  uint64_t seed = 0;
  std::string text() const { return fmt::format("{} of seed {}", way.text(), seed); }
};

Result<std::vector<Exploration>> explorations(const CollectOptions& options) {
  std::vector<std::string> words = options.ways;
  if (words.empty()) words = {"random/rollout", "random/rollout", "random/tree", "greedy/tree", "greedy/beam"};
  std::vector<Exploration> all;
  for (const std::string& word : words) {
    MTMC_TRY(Way way, parse_way(word));
    all.push_back({std::move(way), static_cast<uint64_t>(options.seed) + all.size()});
  }
  return all;
}

// Is all code that will be measured printed by coders of ours? What a model writes is not run without walls.
Result<bool> trusts(const CollectOptions& options, const std::vector<Exploration>& ways) {
  if (options.judge == "full") return false;
  for (const Exploration& one : ways) {
    for (const std::string& coder : split(one.way.coder.empty() ? options.bench.coder : one.way.coder, ',')) {
      if (coder == "builtin" || coder == "faulty") continue;
      if (options.judge == "auto") return false;
      return Error{"choosing a judge", "one that trusts would run what others write", coder, "builtin or faulty"};
    }
  }
  return true;
}

Result<std::vector<SuiteTask>> tasks_of(const std::vector<std::string>& roots) {
  std::vector<SuiteTask> all;
  for (const std::string& root : roots) {
    MTMC_TRY(const std::vector<SuiteTask> some, find_suite("files")->tasks(root));
    all.insert(all.end(), some.begin(), some.end());
  }
  if (all.empty()) return Error{"collecting", "--root is missing", "", "folders of task files"};
  return all;
}

// The live line only: there are thousands of attempts.
class Live final : public ProgressListener {
 public:
  explicit Live(Progress& progress) : progress_(progress) {}
  void on_doing(const std::string& what, const RunStatus& status) override {
    progress_.live(status.fraction, -1, fmt::format("best {:.2f}x", status.best_speedup), what);
  }
  void on_attempt(const NodeRecord&, bool, const RunStatus&) override {}

 private:
  Progress& progress_;
};

// What exploring one task came to, as a member of a crew answers it.
Json nothing_yet() {
  return {{"lines", Json::array()}, {"explored", 0}, {"judged", 0}, {"remembered", 0}, {"failed", 0}, {"bugs", 0},
          {"runs", Json::array()}};
}

// Explores one task after the other in this process.
class Explorer {
 public:
  static Result<Explorer> open(const CollectOptions& options) {
    WorkbenchOptions wanted = options.bench;
    wanted.limits.steps = static_cast<int>(options.steps);
    wanted.limits.evaluations = static_cast<int>(options.evaluations);
    wanted.limits.seconds = 0;
    wanted.baselines.clear();
    wanted.explores = wanted.many = true;
    wanted.seed = static_cast<uint64_t>(options.seed);
    MTMC_TRY(std::vector<Exploration> ways, explorations(options));
    MTMC_TRY(wanted.trusts, trusts(options, ways));
    MTMC_TRY(auto store, open_store(options.sends ? ":memory:" : store_path(options.store)));
    auto llm = std::make_unique<LlmAccess>(wanted.llm);
    MTMC_TRY(auto bench, Workbench::open(wanted, *store, *llm));
    return Explorer(options, std::move(ways), std::move(store), std::move(llm), std::move(bench));
  }

  // The user's mistakes, and our bugs in one task, are lines; the next task may be explored all the same. `some`: the
  // numbers of the ways to go; null: all.
  Json work(const SuiteTask& task, ProgressListener& listener, const Json& some = {}) {
    Json reply = nothing_yet();
    std::string failure;
    try {
      const Status done = explore(task, listener, some, reply);
      if (!done.ok()) failure = done.error().message();
    } catch (const std::exception& bug) {
      reply["bugs"] = 1, failure = std::string("a bug of ours: ") + bug.what();
    }
    if (!failure.empty()) reply["failed"] = 1, reply["lines"].push_back("failed: " + failure);
    return reply;
  }

 private:
  Explorer(const CollectOptions& options, std::vector<Exploration> ways, std::unique_ptr<Store> store,
           std::unique_ptr<LlmAccess> llm, std::unique_ptr<Workbench> bench)
      : options_(options),
        ways_(std::move(ways)),
        store_(std::move(store)),
        llm_(std::move(llm)),
        bench_(std::move(bench)) {}

  // Names an exploration by all that shapes it.
  std::string key_of(const std::string& source, const Exploration& way) const {
    const std::string strategy = way.way.text().substr(way.way.policy.size() + 1);  // and what is behind it
    return sha256(Json{source, way.way.policy, strategy, way.seed, bench_->target().name, bench_->hardware().name,
                       options_.bench.coder, options_.steps, options_.evaluations, bench_->evaluator()}
                      .dump());
  }

  Status explore(const SuiteTask& task, ProgressListener& listener, const Json& some, Json& reply) {
    MTMC_TRY(const std::string source, read_source(Json::parse(task.task.json).at("file").get<std::string>()));
    std::vector<size_t> open;
    for (size_t i = 0; i < ways_.size(); ++i) {
      if (!some.is_null() && std::find(some.begin(), some.end(), i) == some.end()) continue;
      MTMC_TRY(const auto known, store_->recall(kLedger, key_of(source, ways_[i])));
      if (!known) open.push_back(i);
    }
    reply["remembered"] = ways_.size() - open.size();
    if (open.empty()) return ok_status();
    MTMC_TRY(const TracedTask traced, bench_->trace(task.task));
    for (const size_t number : open) {
      const Exploration& way = ways_[number];
      MTMC_RETURN_IF_ERROR(bench_->search_by(way.way, way.seed));
      MTMC_TRY(const Optimized done, bench_->optimize(traced, listener));
      const Speedup* best = speedup_over(done.verdict, "eager");
      const std::string fastest = best == nullptr ? done.verdict.reason : fmt::format("{:.2f}x eager", best->median);
      reply["lines"].push_back(fmt::format("{}: {} judged, {}", way.way.text(), done.evaluations, fastest));
      reply["explored"] = reply["explored"].get<int>() + 1;
      reply["judged"] = reply["judged"].get<int>() + done.evaluations;
      if (options_.sends) {
        MTMC_TRY(Json run, run_to_json(*store_, done.run));
        reply["runs"].push_back({{"way", number}, {"run", std::move(run)}});
      }
      MTMC_RETURN_IF_ERROR(store_->remember(kLedger, key_of(source, way), Json{{"run", done.run}}.dump()));
    }
    return ok_status();
  }

  const CollectOptions& options_;
  std::vector<Exploration> ways_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<LlmAccess> llm_;
  std::unique_ptr<Workbench> bench_;
};

// Begins tasks until the budget is spent, and adds up what became of them.
class Ledger {
 public:
  Ledger(double budget, size_t tasks, Progress& progress) : budget_(budget), tasks_(tasks), progress_(progress) {}

  bool begins(const std::string& task) {
    if (budget_ <= 0 || now_seconds() - start_ <= budget_) return true;
    progress_.line(fmt::format("the budget of {:.0f} s is spent: the same command goes on with {}", budget_, task));
    return false;
  }
  void ended(const std::string& task, const Json& reply) {
    set_interrupt_note("what was explored is kept; the same command goes on from there");
    ++ended_;
    for (const Json& line : reply.at("lines"))
      progress_.line(fmt::format("[{}/{}] {}: {}", ended_, tasks_, task, line.get<std::string>()));
    for (const auto& [name, count] : counts_.items()) count = count.get<int>() + reply.at(name).get<int>();
  }
  int count(const char* name) const { return counts_.at(name); }
  std::string totals() const {
    return fmt::format("{} explorations, {} candidates judged, {} explored before, {} failed", count("explored"),
                       count("judged"), count("remembered"), count("failed"));
  }

 private:
  const double budget_, start_ = now_seconds();
  const size_t tasks_;
  Progress& progress_;
  size_t ended_ = 0;
  Json counts_ = {{"explored", 0}, {"judged", 0}, {"remembered", 0}, {"failed", 0}, {"bugs", 0}};
};

using Tasks = std::map<std::string, SuiteTask>;

Status explore_here(const CollectOptions& options, const std::vector<std::string>& names, const Tasks& tasks,
                    Ledger& ledger, Progress& progress) {
  MTMC_TRY(Explorer explorer, Explorer::open(options));
  Live live(progress);
  for (const std::string& name : names) {
    if (!ledger.begins(name)) break;
    ledger.ended(name, explorer.work(tasks.at(name), live));
  }
  return ok_status();
}

// What became of a task whose member was lost.
Json lost(const Error& error) {
  Json reply = nothing_yet();
  reply["failed"] = reply["bugs"] = 1, reply["lines"].push_back("failed: " + error.message());
  return reply;
}

// Several processes explore tasks of their own; those that share a GPU take turns on it.
Status explore_in_crew(size_t jobs, const std::vector<std::string>& gpus, const std::vector<std::string>& names,
                       Ledger& ledger) {
  MTMC_TRY(std::vector<std::string> command, own_command());
  command.emplace_back("--member");
  const TempDir folder;  // with all of theirs in it: whoever is killed removes nothing
  const std::vector<Command> members = member_commands(command, jobs, gpus, folder.path());
  const CrewListener listener{
      .begins = [&](const std::string& task) { return ledger.begins(task); },
      .ended = [&](const std::string& task,
                   const Result<Json>& reply) { ledger.ended(task, reply.ok() ? *reply : lost(reply.error())); }};
  return work_off(members, names, listener);
}

// A cluster's members have no store: they are told which ways to go, their answers hold the runs, and this process
// writes them.
class Cluster {
 public:
  static Result<Cluster> open(const CollectOptions& options) {
    MTMC_TRY(std::vector<Exploration> ways, explorations(options));
    MTMC_TRY(auto store, open_store(store_path(options.store)));
    return Cluster(options, std::move(ways), std::move(store));
  }

  Status explore(const std::vector<std::string>& names, const Tasks& tasks, Ledger& ledger) {
    std::vector<std::string> left;
    for (const std::string& name : names) {
      MTMC_TRY(sources_[name], read_source(Json::parse(tasks.at(name).task.json).at("file").get<std::string>()));
      Json open = Json::array();
      for (size_t i = 0; i < ways_.size(); ++i) {
        MTMC_TRY(const auto known, store_->recall(kElsewhere, key_of(name, i)));
        if (!known) open.push_back(i);
      }
      if (!open.empty()) {
        left.push_back(Json{{"task", name}, {"ways", std::move(open)}}.dump());
        continue;
      }
      Json reply = nothing_yet();
      reply["remembered"] = ways_.size();
      ledger.ended(name, reply);
    }
    if (left.empty()) return ok_status();
    const auto name_of = [](const std::string& line) { return Json::parse(line).at("task").get<std::string>(); };
    const CrewListener listener{.begins = [&](const std::string& line) { return ledger.begins(name_of(line)); },
                                .ended =
                                    [&](const std::string& line, const Result<Json>& reply) {
                                      const std::string name = name_of(line);
                                      const Status kept = reply.ok() ? keep(name, *reply) : Status(reply.error());
                                      ledger.ended(name, kept.ok() ? *reply : lost(kept.error()));
                                    }};
    MTMC_TRY(std::vector<std::string> command, own_command());
    command.insert(command.end(), {"--member", "--sends"});
    MTMC_TRY(const size_t places,
             options_.jobs > 0 ? Result<size_t>(static_cast<size_t>(options_.jobs)) : remote_places(options_.ray));
    return work_off(remote_commands(command, std::min(places, left.size()), options_.ray), left, listener);
  }

 private:
  Cluster(const CollectOptions& options, std::vector<Exploration> ways, std::unique_ptr<Store> store)
      : options_(options), ways_(std::move(ways)), store_(std::move(store)) {}

  std::string key_of(const std::string& name, size_t way) const {
    return sha256(Json{sources_.at(name), ways_[way].text(), options_.bench.target, options_.bench.hardware,
                       options_.bench.coder, options_.judge, options_.steps, options_.evaluations, options_.ray}
                      .dump());
  }

  Status keep(const std::string& name, const Json& reply) {
    for (const Json& one : reply.at("runs")) {
      MTMC_TRY(const RunId added, add_run(*store_, one.at("run")));
      MTMC_RETURN_IF_ERROR(store_->remember(kElsewhere, key_of(name, one.at("way")), Json{{"run", added}}.dump()));
    }
    return ok_status();
  }

  const CollectOptions& options_;
  std::vector<Exploration> ways_;
  std::unique_ptr<Store> store_;
  std::map<std::string, std::string> sources_;  // by task
};

Result<int> collect(const CollectOptions& options) {
  MTMC_TRY(const std::vector<Exploration> ways, explorations(options));
  MTMC_TRY([[maybe_unused]] const bool trusted, trusts(options, ways));
  MTMC_TRY(const std::vector<SuiteTask> all, tasks_of(options.roots));
  std::vector<std::string> names;
  Tasks tasks;
  for (const SuiteTask& task : all)
    if (tasks.emplace(task.name, task).second) names.push_back(task.name);
  if (options.member) {
    MTMC_TRY(Explorer explorer, Explorer::open(options));
    Silence silence;
    serve_crew([&](const std::string& line, const std::string&) {
      if (!options.sends) return explorer.work(tasks.at(line), silence);
      const Json asked = Json::parse(line);
      return explorer.work(tasks.at(asked.at("task").get<std::string>()), silence, asked.at("ways"));
    });
    return kDone;
  }
  if (options.sends) return Error{"collecting", "--sends is for a member, which keeps nothing", "", "--member, too"};
  Progress progress(stdout);
  Ledger ledger(options.budget, names.size(), progress);
  if (!options.ray.empty()) {
    MTMC_TRY(Cluster cluster, Cluster::open(options));
    MTMC_RETURN_IF_ERROR(cluster.explore(names, tasks, ledger));
  } else {
    MTMC_TRY(const size_t wanted, jobs_beside(options.bench, options.jobs));
    const size_t jobs = std::min(wanted, names.size());
    MTMC_TRY(const std::vector<std::string> gpus, gpus_of(options.bench));
    MTMC_RETURN_IF_ERROR(jobs == 1 ? explore_here(options, names, tasks, ledger, progress)
                                   : explore_in_crew(jobs, gpus, names, ledger));
  }
  progress.line(ledger.totals() + "; attempts in " + store_path(options.store).string());
  return ledger.count("bugs") > 0 ? kOurBug : ledger.count("failed") > 0 ? kNotBetter : kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<CollectOptions>();
  std::vector<std::string> targets = {"auto"};
  for (const TargetDef* target : all_targets()) targets.emplace_back(target->name);
  options.words(given->roots, "--root", "DIR...", "folders of task files, such as `mtmc tasks` writes");
  options.words(given->ways, "--ways", "POLICY/STRATEGY...",
                "how each task is explored, one after the other, each with the next seed (random/rollout twice, "
                "random/tree, greedy/tree, greedy/beam)");
  options.choice(given->bench.target, "--target", targets, "what kernels are written for");
  options.text(given->bench.hardware, "--hardware", join(hardware_profiles(), "|") + "|FILE.json",
               "a machine that is not here: nothing runs, times are the cost model's");
  options.text(given->bench.coder, "--coder", "NAME",
               "who writes the code: builtin, or faulty, which makes mistakes on purpose (builtin)");
  options.choice(given->judge, "--judge", {"auto", "full", "trusting"},
                 "full: with walls, as a search; trusting: in one process, many times faster, for code of builtin and "
                 "faulty; auto: "
                 "trusting where that is allowed");
  options.integer(given->steps, "--steps", 1, "the most steps in a row");
  options.integer(given->evaluations, "--evaluations", 1, "candidates judged in each exploration");
  options.seed(given->seed, "--seed", "of the explorations and the hidden draws");
  options.integer(
      given->jobs, "--jobs", 1,
      "how many tasks are explored at once; those on one GPU take turns timing (one for each GPU; without a GPU, one)");
  options.text(given->ray, "--ray", "ADDRESS",
               "explore on the GPUs of a Ray cluster, into this machine's store; auto: the cluster that it belongs to");
  options.seconds(given->budget, "--budget", "begin no further task after this time (no limit)");
  options.text(given->store, "--store", "FILE",
               "where all attempts are kept ($MTMC_STORE, else ~/.local/share/mtmc/store.db)");
  options.section("");  // what one process of --jobs tells another
  options.flag(given->member, "--member", "be one of another collect's --jobs");
  options.flag(given->sends, "--sends", "with --member: without a store, what was tried is part of the answers");
  return [given] { return collect(*given); };
}

}  // namespace

extern const Verb collect_def;
const Verb collect_def{"collect", "Explore tasks in several ways and keep all attempts for a policy to learn from.",
                       declare};

}  // namespace mtmc
