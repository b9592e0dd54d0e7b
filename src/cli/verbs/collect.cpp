// `mtmc collect`: explores tasks in several ways, judging at the screen tier, and keeps every attempt in the store for
// a policy to learn from. What was explored already is not explored again: the same command goes on.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/verb.h"
#include "workbench/suite.h"
#include "workbench/way.h"
#include "workbench/workbench.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLedger = "collected";  // what the store remembers finished explorations under

struct CollectOptions {
  std::vector<std::string> roots, ways;
  WorkbenchOptions bench;
  std::string store;
  int64_t seed = 0, steps = 8, evaluations = 16;
  double budget = 0;  // seconds; 0: none
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

class Collector {
 public:
  Collector(const CollectOptions& options, Workbench& bench, Store& store, Progress& progress)
      : options_(options), bench_(bench), store_(store), progress_(progress), live_(progress) {}

  Status run(const std::vector<SuiteTask>& tasks, const std::vector<Exploration>& ways) {
    const double start = now_seconds();
    for (size_t i = 0; i < tasks.size(); ++i) {
      const std::string place = fmt::format("[{}/{}] {}", i + 1, tasks.size(), tasks[i].name);
      if (options_.budget > 0 && now_seconds() - start > options_.budget) {
        progress_.line(fmt::format("the budget of {:.0f} s is spent: the same command goes on with {}", options_.budget,
                                   tasks[i].name));
        return ok_status();
      }
      MTMC_RETURN_IF_ERROR(explore_or_tell(tasks[i], ways, place));
      set_interrupt_note("what was explored is kept; the same command goes on from there");
    }
    return ok_status();
  }

  std::string totals() const {
    return fmt::format("{} explorations, {} candidates judged, {} explored before, {} failed", explored_, judged_,
                       remembered_, failed_);
  }
  int failed() const { return failed_; }
  int bugs() const { return bugs_; }

 private:
  // Names an exploration by all that shapes it.
  std::string key_of(const std::string& source, const Exploration& way) const {
    const std::string strategy = way.way.text().substr(way.way.policy.size() + 1);  // and what is behind it
    return sha256(Json{source, way.way.policy, strategy, way.seed, bench_.target().name, bench_.hardware().name,
                       options_.steps, options_.evaluations}
                      .dump());
  }

  // The user's mistakes and our bugs in one task are told; the others go on. An Error: the store does not work.
  Status explore_or_tell(const SuiteTask& task, const std::vector<Exploration>& ways, const std::string& place) {
    MTMC_TRY(const std::string source, read_file(Json::parse(task.task.json).at("file").get<std::string>()));
    std::vector<Exploration> open;
    for (const Exploration& way : ways) {
      MTMC_TRY(const auto known, store_.recall(kLedger, key_of(source, way)));
      if (!known) open.push_back(way);
    }
    remembered_ += static_cast<int>(ways.size() - open.size());
    if (open.empty()) return ok_status();
    try {
      const Status done = explore(task, source, open, place);
      if (!done.ok()) ++failed_, progress_.line(place + ": failed: " + done.error().message());
    } catch (const std::exception& bug) {
      ++failed_, ++bugs_;
      progress_.line(place + ": a bug of ours: " + bug.what());
    }
    return ok_status();
  }

  Status explore(const SuiteTask& task, const std::string& source, const std::vector<Exploration>& ways,
                 const std::string& place) {
    MTMC_TRY(const TracedTask traced, bench_.trace(task.task));
    for (const Exploration& way : ways) {
      MTMC_RETURN_IF_ERROR(bench_.search_by(way.way, way.seed));
      MTMC_TRY(const Optimized done, bench_.optimize(traced, live_));
      const Speedup* best = speedup_over(done.verdict, "eager");
      const std::string fastest = best == nullptr ? done.verdict.reason : fmt::format("{:.2f}x eager", best->median);
      progress_.line(fmt::format("{}: {}: {} judged, {}", place, way.text(), done.evaluations, fastest));
      ++explored_, judged_ += done.evaluations;
      MTMC_RETURN_IF_ERROR(store_.remember(kLedger, key_of(source, way), Json{{"run", done.run}}.dump()));
    }
    return ok_status();
  }

  const CollectOptions& options_;
  Workbench& bench_;
  Store& store_;
  Progress& progress_;
  Live live_;
  int explored_ = 0, judged_ = 0, remembered_ = 0, failed_ = 0, bugs_ = 0;
};

Result<int> collect(const CollectOptions& options) {
  MTMC_TRY(const std::vector<Exploration> ways, explorations(options));
  MTMC_TRY(const std::vector<SuiteTask> tasks, tasks_of(options.roots));
  WorkbenchOptions wanted = options.bench;
  wanted.limits.steps = static_cast<int>(options.steps);
  wanted.limits.evaluations = static_cast<int>(options.evaluations);
  wanted.limits.seconds = 0;
  wanted.baselines.clear();
  wanted.explores = wanted.many = true;
  wanted.seed = static_cast<uint64_t>(options.seed);
  const fs::path store_file = store_path(options.store);
  MTMC_TRY(const auto store, open_store(store_file));
  MTMC_TRY(const auto bench, Workbench::open(wanted, *store));
  Progress progress(stdout);
  Collector collector(options, *bench, *store, progress);
  MTMC_RETURN_IF_ERROR(collector.run(tasks, ways));
  progress.line(collector.totals() + "; attempts in " + store_file.string());
  return collector.bugs() > 0 ? kOurBug : collector.failed() > 0 ? kNotBetter : kDone;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<CollectOptions>();
  std::vector<std::string> targets = {"auto"};
  for (const TargetDef* target : all_targets()) targets.emplace_back(target->name);
  options.words(given->roots, "--root", "DIR...", "folders of task files, such as `mtmc tasks` writes");
  options.words(given->ways, "--ways", "POLICY/STRATEGY...",
                "how each task is explored, one after the other, each with the next seed (random/rollout twice, "
                "random/tree, greedy/tree, greedy/beam)");
  options.choice(given->bench.target, "--target", targets, "what kernels are printed for");
  options.text(given->bench.hardware, "--hardware", join(hardware_profiles(), "|") + "|FILE.json",
               "a machine that is not here: nothing runs, the cost model prices kernels for it");
  options.text(given->bench.coder, "--coder", "NAME", "who implements actions; faulty makes mistakes (builtin)");
  options.integer(given->steps, "--steps", 1, "the most actions in a row (8)");
  options.integer(given->evaluations, "--evaluations", 1, "candidates judged in each exploration (16)");
  options.integer(given->seed, "--seed", 0, "of the explorations and the hidden draws (0)");
  options.seconds(given->budget, "--budget", "seconds after which no further task is begun (no limit)");
  options.text(given->store, "--store", "FILE", "where attempts are kept (MTMC_STORE, ~/.local/share/mtmc/store.db)");
  return [given] { return collect(*given); };
}

}  // namespace

extern const Verb collect_def;
const Verb collect_def{"collect", "Explore tasks in several ways and keep all attempts for a policy to learn from.",
                       declare};

}  // namespace mtmc
