// The policy's first choice at every step until it stops; again from the start while there is budget and new ground.
#include "search/strategy.h"

namespace mtmc {
namespace {

// One walk from the start; whether it reached a state that was not known.
Result<bool> walk(Environment& environment, SearchNode& start) {
  bool news = false;
  SearchNode* here = &start;
  // Known states may lead back to each other (lower, library): moves are counted, not depth.
  for (int move = 0; move < environment.limits().steps && !environment.spent(); ++move) {
    MTMC_TRY(const std::vector<Proposal> proposals, environment.ranked(*here));
    if (proposals.empty()) break;
    MTMC_TRY(const Environment::Step taken, environment.step(*here, {proposals.front()}, 0));
    news |= taken.fresh;
    if (taken.node == nullptr || !taken.node->screen.certified()) break;
    here = taken.node;
  }
  return news;
}

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  int idle = 0;  // walks in a row without news
  while (idle < options.breadth && !environment.spent()) {
    MTMC_TRY(const bool news, walk(environment, start));
    idle = news ? 0 : idle + 1;
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef rollout_def;
const StrategyDef rollout_def{"rollout", "follow the policy's first choice until it stops, and start over", run};

}  // namespace mtmc
