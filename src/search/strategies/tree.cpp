// Best-first tree search: always the most promising state that has untried proposals; each try makes its state less
// attractive, so that a dead end is left in time and a success is followed at once.
#include <cmath>
#include <deque>

#include "search/asked_steps.h"
#include "search/strategy.h"

namespace mtmc {
namespace {

constexpr double kDiscount = 0.9;   // per proposal already tried at a state
constexpr double kProgress = 1.01;  // a new best is worth mentioning from here on

struct Open {
  SearchNode* node;
  double promise;
  std::vector<Proposal> proposals = {};
  size_t next = 0;
  bool ranked = false;

  double attraction() const { return promise * std::pow(kDiscount, static_cast<double>(next)); }
  bool exhausted() const { return ranked && next >= proposals.size(); }
};

using AllOpen = std::deque<Open>;  // they never move

Open* most_attractive(AllOpen& open) {
  Open* best = nullptr;
  for (Open& one : open)
    if (!one.exhausted() && (best == nullptr || one.attraction() > best->attraction())) best = &one;
  return best;
}

// What is under way counts as tried: each further step is chosen as if nothing had come of them.
Status choose(Environment& environment, AllOpen& open, AskedSteps& asked, int most) {
  while (asked.room() && static_cast<int>(asked.size()) < most) {
    Open* chosen = most_attractive(open);
    if (chosen == nullptr) break;
    if (!chosen->ranked) {
      MTMC_TRY(chosen->proposals, environment.ranked(*chosen->node));
      chosen->ranked = true;
      continue;
    }
    if (!asked.add(*chosen->node, chosen->proposals, chosen->next)) break;
    ++chosen->next;
  }
  return ok_status();
}

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  AllOpen open{Open{&start, environment.promise(start)}};
  MTMC_TRY(const std::vector<SearchNode*> reached, environment.descend(start));
  for (SearchNode* node : reached) open.push_back(Open{node, environment.promise(*node)});
  double best = environment.best()->score();
  int idle = 0;  // attempts in a row without progress
  AskedSteps asked(environment);
  while (idle < options.patience && !environment.spent()) {
    MTMC_RETURN_IF_ERROR(choose(environment, open, asked, options.patience - idle));
    if (asked.empty()) break;
    MTMC_TRY(const std::optional<Environment::Step> made, asked.take());
    if (!made) continue;
    const Environment::Step& taken = *made;
    idle = taken.fresh && taken.node->score() > kProgress * best ? 0 : idle + taken.fresh;
    best = environment.best()->score();
    if (taken.fresh && taken.node->screen.certified())
      open.push_back(Open{taken.node, environment.promise(*taken.node)});
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef tree_def;
const StrategyDef tree_def{"tree", "best-first: always the most promising state with something left to try", run};

}  // namespace mtmc
