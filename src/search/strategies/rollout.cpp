// The policy's first choice at every step until it stops; again from the start while there is budget and new ground.
#include <set>
#include <utility>

#include "search/gains.h"
#include "search/strategy.h"

namespace mtmc {
namespace {

using Refused = std::set<std::pair<const SearchNode*, std::string>>;  // states, and actions of which nothing came there

// One walk from the start; whether it reached a state that was not known. What leads to known Programs is passed over
// while something new is wanted, and what was refused is followed by what is wanted next. Where nothing new is left,
// the walk goes back to a known state, each way once. Moves are counted, not depth: some ways lead back (library).
Result<bool> walk(Environment& environment, SearchNode& start, Refused& refused) {
  const int steps = environment.limits().steps;
  std::set<std::pair<const SearchNode*, const SearchNode*>> back;
  bool news = false;
  SearchNode* here = &start;
  for (int moves = 0; moves < steps && !environment.spent();) {
    MTMC_TRY(const std::vector<Proposal> proposals, environment.ranked(*here, kStopsWalk));
    SearchNode* next = nullptr;
    SearchNode* known = nullptr;
    for (size_t i = 0; i < proposals.size() && next == nullptr && moves < steps && !environment.spent(); ++i) {
      const std::pair way{static_cast<const SearchNode*>(here), store_text(proposals[i].action)};
      if (refused.contains(way)) continue;
      MTMC_TRY(const Environment::Step taken, environment.step(*here, {proposals[i]}, 0));
      const bool right = taken.node != nullptr && taken.node->screen.certified();
      if (taken.fresh || taken.node == nullptr) ++moves;
      news |= taken.fresh;
      if (taken.fresh && right) next = taken.node;
      if (!right) refused.insert(way);
      if (!taken.fresh && right && known == nullptr && taken.node != here && !back.contains({here, taken.node}))
        known = taken.node;
    }
    if (next == nullptr) {
      if (known == nullptr || moves >= steps) break;
      back.emplace(here, known);
      next = known, ++moves;
    }
    here = next;
  }
  return news;
}

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  Refused refused;
  int idle = 0;  // walks in a row without news
  while (idle < options.breadth && !environment.spent()) {
    MTMC_TRY(const bool news, walk(environment, start, refused));
    idle = news ? 0 : idle + 1;
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef rollout_def;
const StrategyDef rollout_def{"rollout", "follow the policy's first choice until it stops, and start over", run};

}  // namespace mtmc
