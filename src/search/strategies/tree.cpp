// Best-first tree search: always the most promising state that has untried proposals; each try makes its state less
// attractive, so that a dead end is left in time and a success is followed at once.
#include <cmath>

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

Open* most_attractive(std::vector<Open>& open) {
  Open* best = nullptr;
  for (Open& one : open)
    if (!one.exhausted() && (best == nullptr || one.attraction() > best->attraction())) best = &one;
  return best;
}

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  std::vector<Open> open{Open{&start, environment.promise(start)}};
  MTMC_TRY(const std::vector<SearchNode*> reached, environment.descend(start));
  for (SearchNode* node : reached) open.push_back(Open{node, environment.promise(*node)});
  double best = environment.best()->score();
  int idle = 0;  // attempts in a row without progress
  while (idle < options.patience && !environment.spent()) {
    Open* chosen = most_attractive(open);
    if (chosen == nullptr) break;
    if (!chosen->ranked) {
      MTMC_TRY(chosen->proposals, environment.ranked(*chosen->node));
      chosen->ranked = true;
      continue;
    }
    MTMC_TRY(const Environment::Step taken, environment.step(*chosen->node, chosen->proposals, chosen->next++));
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
