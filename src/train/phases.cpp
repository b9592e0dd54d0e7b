#include "train/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/process.h"
#include "base/text.h"

namespace mtmc::train {
namespace {

Result<RunOptions> phase_of(const RunOptions& common, const std::string& text, size_t number) {
  const auto wrong = [&](const std::string& what, const std::string& got, const std::string& wanted) {
    return Error{fmt::format("reading the phase '{}'", text), what, got, wanted};
  };
  RunOptions phase = common;
  phase.settings.clear();
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (phase.algorithm.empty()) {
      std::string names;
      for (const AlgorithmDef* def : all_algorithms()) names += (names.empty() ? "" : ", ") + std::string(def->name);
      if (find_algorithm(word) == nullptr) return wrong("there is no such algorithm", word, names);
      phase.algorithm = word;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
    char* end = nullptr;
    const double parsed = std::strtod(value.c_str(), &end);
    if (name == "reward") {
      phase.reward = value;
    } else if (value.empty() || *end != '\0') {
      return wrong("not a setting", word, "NAME=NUMBER");
    } else if (name == "updates") {
      phase.updates = static_cast<int64_t>(parsed);
    } else {
      phase.settings[name] = parsed;
    }
  }
  if (phase.algorithm.empty()) return wrong("it is empty", "", "an algorithm");
  MTMC_RETURN_IF_ERROR(check_run(phase));
  phase.out = common.out / fmt::format("{}-{}", number, phase.algorithm);
  return phase;
}

}  // namespace

Result<Phases> run_phases(const PhasesOptions& options, Processes& processes, Progress* progress) {
  std::vector<RunOptions> phases;
  RunOptions common = options.run;
  common.algorithm.clear();
  for (const std::string& text : options.phases) {
    MTMC_TRY(RunOptions phase, phase_of(common, text, phases.size() + 1));
    phases.push_back(std::move(phase));
  }
  const double begun = now_seconds();
  Phases so_far{phases.empty(), common.model, common.adapter};
  for (RunOptions& phase : phases) {
    phase.model = so_far.model, phase.adapter = so_far.adapter;
    if (common.budget > 0) {
      // The first process's clock counts, and it says when a budget is spent: one update at least is done.
      phase.budget = std::max(1e-3, common.budget - (now_seconds() - begun));
    }
    if (progress != nullptr) progress->line("phase " + phase.out.filename().string());
    MTMC_TRY(so_far.finished, run_training(phase, processes, progress));
    if (!so_far.finished) return so_far;
    // The first process writes the policy that all go on from.
    MTMC_TRY([[maybe_unused]] const auto here, processes.gather({1}));
    (common.weights == "all" ? so_far.model : so_far.adapter) = (phase.out / "policy").string();
    if (common.weights == "all") so_far.adapter.clear();
  }
  return so_far;
}

}  // namespace mtmc::train
