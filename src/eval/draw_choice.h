// Which draws a candidate meets, and in which rounds of timing. What it met before may be written down: then it meets
// other draws of the same kinds. What refused one candidate is remembered for the next.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "eval/judge_options.h"
#include "eval/rounds.h"
#include "eval/task_facts.h"
#include "eval/verdict.h"

namespace mtmc {

// The most kinds of structured draws that a candidate meets.
constexpr size_t structured_count(Tier tier) { return tier == Tier::screen ? 2 : 100; }

// Draws of a kind have so many indices, from 0: those that the referee's budgets are made of.
inline constexpr int kDrawsOfAKind = 5;

class DrawChoice {
 public:
  // Both must outlive it.
  DrawChoice(const JudgeOptions& options, Rng& rng) : options_(&options), rng_(&rng), indices_(rng.next()) {}

  // Another task is open.
  void opened(const TaskFacts& facts) { draw_index(facts); }

  // An index of a draw of any kind, other than the first; large draws are few.
  int other_index(const TaskFacts& facts);
  // Draws that a task's first screen will need, and those of them that are not structured.
  std::vector<std::string> screened_first(const TaskFacts& facts) const;
  static std::vector<std::string> screened_besides(const TaskFacts& facts);
  // Draws that the next certification will need, in the order in which it does, but for those of other sizes: there
  // must be room for them before a candidate takes memory. Which they are is known before it begins, so that they can
  // be made ahead.
  std::vector<std::string> certified_next(const TaskFacts& facts) const;
  // The index of a certification's draws, structured and others, once the structured ones were chosen.
  int met_index() const { return met_index_; }
  // The structured draws of a trial, in their order. `again`: the candidate may have met those of before. A screen's
  // are made by then, a certification's are still to be: so many large ones could not be kept until their turn.
  Result<std::vector<std::string>> structured(TaskFacts& facts, Tier tier, bool again);
  // Makes one of a certification's, when its turn has come; false: it proves nothing, and is left out.
  Result<bool> meets(TaskFacts& facts, const std::string& draw);
  // Those of the last certification that were.
  const std::vector<std::string>& left_out() const { return left_out_; }
  // More of them, in place of those that turned out to prove nothing.
  Result<std::vector<std::string>> structured_instead(TaskFacts& facts, Tier tier);
  // The rounds of a trial, after its structured draws were chosen. Screens share one set of arguments, except large
  // ones on a GPU, which are drawn faster than kept; every certification gets its own, which nothing has seen before,
  // and so do rounds that begin `anew`. Without baselines.
  Result<RoundPlan> rounds(TaskFacts& facts, Tier tier, bool anew);
  // What refused a candidate in a certification, the next of its kind meets in a screen, and first.
  void remember(const TaskFacts& facts, const Verdict& certification);

 private:
  void draw_index(const TaskFacts& facts);
  Result<std::multimap<int, std::string>> probes(TaskFacts& facts, Tier tier, int rounds);
  bool on_gpu() const { return options_->device == "cuda"; }

  const JudgeOptions* options_;
  Rng* rng_;
  int timed_sets_ = 0;
  int next_index_ = 1;  // of the next certification's draws
  Rng indices_;         // that these come from: when they are asked for changes nothing else
  std::map<std::filesystem::path, std::string> refusing_;  // by a task's folder: the kind that refused last
  std::vector<std::string> met_;                           // the structured draws that were chosen last,
  std::vector<std::string> left_out_;                      // of a certification
  int met_index_ = 0;                                      // each of this index
};

}  // namespace mtmc
