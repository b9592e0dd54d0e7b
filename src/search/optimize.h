// The whole loop: from a traced module to the best certified kernel.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/environment.h"
#include "search/strategy.h"

namespace mtmc {

class Ledger;

struct OptimizeRequest {
  Task task;
  std::string source;                      // the text of the user's file
  std::string description;                 // one line for the policy
  std::shared_ptr<const Program> program;  // as traced, one library kernel per operator
  ModuleShell shell;
  std::string shell_json;  // as the store keeps it, for replay
  const TargetDef& target;
  Hardware hardware;
  std::string evaluator;                    // version of the judge
  std::vector<std::string> baselines = {};  // that the result is compared with beside eager
  bool paper_only = false;
  SearchLimits limits;
  StrategyOptions strategy_options;
  uint64_t seed = 0;
  bool explores = false;          // only screens: nothing is certified, and what is at the roofline is searched, too
  Clock clock = working_seconds;  // what the limit of time is measured with
  Ledger* ledger = nullptr;       // of the language models that coder and policy ask; null: none is asked
};

enum class Answer {
  faster,       // something certified is faster than eager
  at_roofline,  // the untouched start is within 5 % of the roofline
  not_faster,   // nothing that was tried is certified and faster than the untouched start
  unclear,      // likewise, but something may be faster: the machine was too busy to say
  refused,      // not even the untouched start is certified: its verdict says why
  explored,     // nothing was certified: that was not asked for
};
std::string to_string(Answer answer);  // "faster", "at-roofline", ...

struct OptimizedStep {
  NodeId node = kNoNode;
  std::string action, rendered;
  Verdict verdict;
};

struct Optimized {
  RunId run = 0;
  NodeId best = kNoNode;  // the result; kNoNode when nothing is certified: the rest is then the start's
  Answer answer = Answer::not_faster;
  std::shared_ptr<const Program> program;  // of the best node
  Code code;
  Verdict verdict;                   // certify tier, of the best node
  std::vector<OptimizedStep> steps;  // from the start (without an action) to the best node
  double roofline_share = 0;         // the least possible time over the measured one
  double seconds_for_one = 0;        // time was up before a candidate was judged: the limit that one needs; else 0
  std::optional<Error> given_up;     // why coder or policy could not go on
  std::optional<Error> refusal;      // no candidate was judged: why the language model's last step came to nothing
  std::string account;               // what it has cost on this run, as JSON (to_json(Spent)); empty: nothing costs
  int evaluations = 0;               // candidates screened, the start not counted
  double seconds = 0;
  double certify_seconds = 0;  // of these, what certifications took since the run was begun or resumed
  bool resumed = false;
};

// Searches, certifies the winner (the next best when it fails) and 5 % of the screened at random, and finishes the run
// in the store. The same request resumes a run that was cut off and ends where it would have ended. An Error is the
// user's mistake, a judge or store that cannot work, or a coder that gave up before anything was judged; the run then
// stays resumable.
Result<Optimized> optimize(const OptimizeRequest& request, Judge& judge, Store& store, Coder& coder, Policy& policy,
                           const StrategyDef& strategy, ProgressListener& listener);

}  // namespace mtmc
