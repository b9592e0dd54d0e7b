#include "cli/search_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

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

template <typename Def>
std::vector<std::string> asking(const std::vector<const Def*>& all) {
  std::vector<const Def*> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [](const Def* def) { return def->asks_model; });
  return names_of(found);
}

// Of one that there is not somebody else will say so.
template <typename Def>
bool may_ask(const Def* def) {
  return def == nullptr || def->asks_model;
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
  options.seed(seed_, "--seed", "random numbers of the search and of the judge's hidden draws");
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

Status SearchOptions::check_model() const {
  const std::vector<std::string> given = model_.given(), coders = split(bench.coder, ',');
  const auto name_of = [](const std::string& word) { return word.substr(0, word.find(':')); };
  if (given.empty() || may_ask(find_policy(name_of(bench.policy)))) return ok_status();
  for (const std::string& coder : coders)
    if (may_ask(find_coder(name_of(coder)))) return ok_status();
  return Error{"reading the command line",
               fmt::format("{} is for --coder {} or --policy {}", given[0], join(asking(all_coders()), ", "),
                           join(asking(all_policies()), ", ")),
               fmt::format("--coder {} and --policy {}", bench.coder, bench.policy), ""};
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
