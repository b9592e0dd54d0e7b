// The start again and again, and nothing that came of it: what a search is worth beyond asking often.
#include "search/strategy.h"

namespace mtmc {
namespace {

Status run(Environment& environment, SearchNode& start, const StrategyOptions&) {
  MTMC_TRY(const std::vector<Proposal> proposals, environment.ranked(start));
  for (size_t i = 0; i < proposals.size() && !environment.spent(); ++i) {
    MTMC_TRY([[maybe_unused]] const Environment::Step taken, environment.step(start, proposals, i));
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef resample_def;
const StrategyDef resample_def{"resample", "one step from the start, each time another one; no step follows", run};

}  // namespace mtmc
