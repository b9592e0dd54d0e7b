// How fast? Interleaved rounds of single cold calls: candidate, eager and the other baselines.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "eval/baselines.h"
#include "eval/examination.h"

namespace mtmc {

struct RoundPlan {
  int warm_ups = 2, rounds = 10;                // the candidate learns neither
  std::vector<std::string> draws;               // arguments of each warm-up and round; no two are the same
  bool lends_anew = false;                      // the same weights are set once more before every call
  bool one_thread = false;                      // in each process: none waits for another
  bool forgets = false;                         // draws are not called again
  bool measures_on = true;                      // where an interval is wide
  int checks = 1;                               // timed calls whose outputs are measured
  std::multimap<int, std::string> probes = {};  // other draws, called like the others before that round; not counted
  std::vector<std::string> baselines = {};      // that take part beside eager
};

// The note of a verdict whose clocks parted, though not by as much as a lie.
constexpr const char* kTimedFromOutside = "timed-from-outside";

// Fills in times and speedups; false when a timed output is wrong or the clocks disagree.
Result<bool> time_rounds(Guest& guest, Baselines& baselines, TaskFacts& facts, Examination& examination,
                         const RoundPlan& plan, Rng& rng, Verdict& verdict);

}  // namespace mtmc
