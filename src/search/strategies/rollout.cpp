// The policy's first choice that is new, at every step until it stops; again from the start while there is budget and
// new ground.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "search/gains.h"
#include "search/strategy.h"

namespace mtmc {
namespace {

// What actions led to, by state and text: the node that is known now, or null.
using Ways = std::map<std::pair<const SearchNode*, std::string>, SearchNode*>;

bool right(const SearchNode* node) { return node != nullptr && node->screen.certified(); }

// One walk from the start; whether it reached a state that was not known. What leads to known Programs is passed over
// while something new is wanted, and what was refused is followed by what is wanted next. Where nothing new is left,
// the walk goes back to a known state, each way once. Moves are counted, not depth: some ways lead back (library).
// Where only the coder can tell what comes of a wish, which may cost money, there is no looking around: the first wish
// is followed, and a refusal ends the walk.
Result<bool> walk(Environment& environment, SearchNode& start, Ways& ways) {
  const int steps = environment.limits().steps;
  std::set<std::pair<const SearchNode*, const SearchNode*>> back;
  bool news = false;
  SearchNode* here = &start;
  for (int moves = 0; moves < steps && !environment.spent();) {
    MTMC_TRY(const std::vector<Proposal> proposals, environment.ranked(*here, kStopsWalk));
    const bool predicted = here->state.program != nullptr;
    const size_t wishes = predicted ? proposals.size() : std::min<size_t>(1, proposals.size());
    SearchNode* next = nullptr;
    SearchNode* known = nullptr;
    for (size_t i = 0; i < wishes && next == nullptr && moves < steps && !environment.spent(); ++i) {
      const auto [way, untried] = ways.try_emplace({here, store_text(proposals[i].action)}, nullptr);
      bool fresh = false;
      if (untried || !predicted) {
        MTMC_TRY(const Environment::Step taken, environment.step(*here, {proposals[i]}, 0));
        way->second = taken.node, fresh = taken.fresh;
        if (fresh || taken.node == nullptr) ++moves;
        news |= fresh;
      }
      if (fresh && right(way->second)) next = way->second;
      if (!fresh && right(way->second) && known == nullptr && way->second != here &&
          !back.contains({here, way->second}))
        known = way->second;
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
  Ways ways;
  int idle = 0;  // walks in a row without news
  while (idle < options.breadth && !environment.spent()) {
    MTMC_TRY(const bool news, walk(environment, start, ways));
    idle = news ? 0 : idle + 1;
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef rollout_def;
const StrategyDef rollout_def{
    "rollout", "follow the policy's first choice that is new until it stops or nothing is, and start over", run};

}  // namespace mtmc
