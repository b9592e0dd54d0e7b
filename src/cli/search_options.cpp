#include "cli/search_options.h"

#include "base/text.h"
#include "cli/task_options.h"

namespace mtmc {
namespace {

// "greedy|random|lm:FOLDER": with what stands behind the colon.
template <typename Def>
std::string words_of(const std::vector<const Def*>& all) {
  std::vector<std::string> words;
  for (const Def* def : all) words.push_back(word_of(*def));
  return join(words, "|");
}

template <typename Def>
std::vector<std::string> names_of(const std::vector<const Def*>& all) {
  std::vector<std::string> names;
  for (const Def* def : all) names.emplace_back(def->name);
  return names;
}

}  // namespace

void SearchOptions::declare(Options& options) {
  options.section("The search (docs/SEARCH.md)");
  std::vector<std::string> targets = names_of(all_targets());
  targets.insert(targets.begin(), "auto");
  options.choice(bench.target, "--target", targets,
                 "what kernels are written for; auto: for the GPU where there is one, else the CPU");
  options.text(bench.hardware, "--hardware", join(hardware_profiles(), "|") + "|FILE.json",
               "a machine that is not here: nothing runs, times are the cost model's");
  options.text(bench.policy, "--policy", words_of(all_policies()), "who chooses the next step (greedy)");
  options.text(bench.coder, "--coder", words_of(all_coders()),
               "who writes its code; several in a row: builtin,llm asks a model where builtin declines (builtin)");
  options.choice(bench.strategy, "--strategy", names_of(all_strategies()), "which attempt is continued");
  options.integer(steps_, "--steps", 1, "the most steps in a row");
  options.seconds(bench.limits.seconds, "--time", "how long to search; tracing and certification come on top");
  options.integer(evaluations_, "--evaluations", 0, "the most candidates to judge; 0: no limit");
  options.integer(seed_, "--seed", 0, "random numbers of the search and of the judge's hidden draws");
  options.choice(actions_, "--actions", {"all", "paper"}, "which action types to use: all, or the paper's");
  options.section("Judging (docs/JUDGE.md)");
  options.words(baselines_, "--baselines", "NAME...",
                "what a winner is timed against beside eager: compile (the default), max-autotune, graph");
  declare_accuracy(options, accuracy_);
  options.flag(bench.freeze_weights, "--freeze-weights", "let kernels pack the weights once; the result is labelled");
  model_.declare(options);
  options.section("Results");
  options.text(store, "--store", "FILE",
               "where all attempts are kept ($MTMC_STORE, else ~/.local/share/mtmc/store.db)");
}

void SearchOptions::search_by(const Way& way) {
  bench.policy = way.policy, bench.strategy = way.strategy;
  if (!way.coder.empty()) bench.coder = way.coder;
  actions_ = way.paper_only ? "paper" : "all";
}

Result<WorkbenchOptions> SearchOptions::read() const {
  WorkbenchOptions read = bench;
  read.llm = model_.read();
  read.paper_only = actions_ == "paper";
  read.accuracy = accuracy_named(accuracy_);
  read.limits.steps = static_cast<int>(steps_), read.limits.evaluations = static_cast<int>(evaluations_);
  read.seed = static_cast<uint64_t>(seed_);
  MTMC_TRY(read.baselines, baselines_named(baselines_));
  return read;
}

}  // namespace mtmc
