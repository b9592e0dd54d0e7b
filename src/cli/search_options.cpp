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
  std::vector<std::string> targets = names_of(all_targets());
  targets.insert(targets.begin(), "auto");
  options.choice(bench.target, "--target", targets,
                 "what kernels are printed for; auto: the most capable one that this machine can run");
  options.text(bench.hardware, "--hardware", join(hardware_profiles(), "|") + "|FILE.json",
               "a machine that is not here: nothing runs, the cost model prices kernels for it");
  options.text(bench.policy, "--policy", words_of(all_policies()), "who chooses the next action (greedy)");
  options.text(bench.coder, "--coder", words_of(all_coders()),
               "who implements it; builtin,llm asks a language model where the builtin coder declines; faulty makes "
               "mistakes on purpose, to try the judge (builtin)");
  model_.declare(options);
  options.choice(bench.strategy, "--strategy", names_of(all_strategies()), "which attempt is continued next");
  options.integer(steps_, "--steps", 1, "the most actions in a row");
  options.seconds(bench.limits.seconds, "--time",
                  "seconds to search once eager is measured; certifying the winner may end later");
  options.integer(evaluations_, "--evaluations", 0, "the most candidates to judge; 0: no limit");
  options.integer(seed_, "--seed", 0, "of the search and of the hidden draws");
  options.choice(actions_, "--actions", {"all", "paper"}, "the action types to use: all, or the paper's");
  options.words(baselines_, "--baselines", "NAME...",
                "what winners are timed against beside eager: compile (the default), max-autotune, graph");
  declare_accuracy(options, accuracy_);
  options.flag(bench.freeze_weights, "--freeze-weights", "kernels may pack the weights once; the result is labelled");
  options.text(store, "--store", "FILE", "where attempts are kept (MTMC_STORE, ~/.local/share/mtmc/store.db)");
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
