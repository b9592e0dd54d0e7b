// The start again and again, and nothing that came of it: what a search is worth beyond asking often.
#include "search/asked_steps.h"
#include "search/strategy.h"

namespace mtmc {
namespace {

Status run(Environment& environment, SearchNode& start, const StrategyOptions&) {
  MTMC_TRY(const std::vector<Proposal> proposals, environment.ranked(start));
  AskedSteps asked(environment);
  for (size_t next = 0; !environment.spent();) {
    while (next < proposals.size() && asked.room() && asked.add(start, proposals, next)) ++next;
    if (asked.empty()) break;
    MTMC_TRY([[maybe_unused]] const std::optional<Environment::Step> taken, asked.take());
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef resample_def;
const StrategyDef resample_def{"resample", "one step from the start, each time another one; no step follows", run};

}  // namespace mtmc
