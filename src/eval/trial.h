// One candidate at one tier: the steps that it goes through, their order, and in whose guest each is made. What a step
// demands is the examination's, how it is timed that of the rounds.
#pragma once
#include <optional>
#include <string>

#include "base/rng.h"
#include "eval/baselines.h"
#include "eval/draw_choice.h"
#include "eval/examination.h"
#include "eval/guests.h"
#include "eval/judge_options.h"
#include "eval/task_facts.h"

namespace mtmc {

// What every trial on the open task works with.
struct TrialParts {
  const JudgeOptions& options;
  Guests& guests;
  Baselines& baselines;
  TaskFacts& facts;
  DrawChoice& draws;
  Rng& rng;
};

class Trial {
 public:
  // `like`: what the rooms of all its guests have in common. `again`: the candidate was examined before, and may have
  // written down what it saw.
  Trial(const TrialParts& parts, Examination& examination, const Room& like, bool again, Verdict& verdict)
      : options_(parts.options),
        guests_(parts.guests),
        baselines_(parts.baselines),
        facts_(parts.facts),
        draws_(parts.draws),
        rng_(parts.rng),
        examination_(examination),
        like_(like),
        again_(again),
        verdict_(verdict) {
    examination_.drop_by(rng_.next());
  }

  // Each returns false when the verdict is settled (refused); an Error when the judge itself fails.
  // `profiled`: which kernels take the time is measured, too.
  Result<bool> screen(bool profiled);                // in a new guest
  Result<bool> screen(Guest& guest, bool profiled);  // in one that may have loaded the candidate already
  Result<bool> certify();
  // One draw of the task's and the structured ones of a screen, in a new guest; no clock.
  Result<bool> interpret();

 private:
  Result<bool> certify_answers();
  Result<bool> raised_without_it();
  Result<bool> run_structured(Guest& guest, const std::string& draw);
  Result<bool> has_other_weights();
  Result<bool> takes_weights();
  Result<bool> follows_weights(Guest& guest);
  Result<bool> notices_few_weights(Guest& guest);
  Result<bool> bears_surroundings(Guest& guest);
  Result<bool> keeps_instances_apart(Guest& guest, const std::string& how);
  Result<std::optional<Guest>> another_guest();
  Result<bool> uses_kernels(Guest& guest);
  Result<bool> works_without_kernels();
  Result<bool> time(Guest& guest);
  Result<bool> leaves_results(Guest& guest);
  Result<bool> time_beside_baselines(Guest& guest);
  Status draw_ahead(const RoundPlan& plan);
  Result<bool> time_quietly(Guest& guest, const RoundPlan& plan);
  Tier tier() const { return verdict_.tier; }
  // What a certification does; a screen is quick.
  void tells(const std::string& what) const {
    if (tier() == Tier::certify && options_.told) options_.told("certifying: " + what);
  }
  bool on_gpu() const { return options_.device == "cuda"; }

  const JudgeOptions& options_;
  Guests& guests_;
  Baselines& baselines_;
  TaskFacts& facts_;
  DrawChoice& draws_;
  Rng& rng_;
  Examination& examination_;
  const Room& like_;
  bool again_;
  Verdict& verdict_;
};

}  // namespace mtmc
