// Best-first tree search (frontier.h): always the most attractive state that has untried proposals.
#include <algorithm>
#include <deque>

#include "search/asked_steps.h"
#include "search/frontier.h"
#include "search/gains.h"
#include "search/strategy.h"

namespace mtmc {
namespace {

constexpr double kProgress = 1.01;  // a new best is worth mentioning from here on

struct Open {
  SearchNode* node;
  std::vector<Proposal> proposals = {};
};
using Tree = Frontier<Open>;

// What may be done there, in the policy's order. What the cost model takes for a small loss is worth a try, too, when
// nothing better is left. What stands behind another is worth as much at most: what is known to pay comes before what
// may (free code).
Status rank(Environment& environment, Branch<Open>& branch) {
  auto& [node, proposals] = branch.state;
  MTMC_TRY(proposals, environment.ranked(*node, kStopsWalk, &branch.gains));
  branch.ranked = true;
  branch.actions = proposals.size();
  for (size_t i = 1; i < branch.gains.size(); ++i) branch.gains[i] = std::min(branch.gains[i - 1], branch.gains[i]);
  return ok_status();
}

// A policy that knows gains is asked at once: without them its states cannot be compared with those that have them.
Status open(Environment& environment, Tree& tree, SearchNode& node, bool knows_gains) {
  Branch<Open>& branch = tree.open({&node}, node.score(), environment.promise(node) / node.score());
  return knows_gains && node.state.program != nullptr ? rank(environment, branch) : ok_status();
}

// What is under way counts as tried: each further step is chosen as if nothing had come of them. `of`: whose they are.
Status choose(Environment& environment, Tree& tree, AskedSteps& asked, std::deque<Branch<Open>*>& of, int most) {
  while (asked.room() && static_cast<int>(asked.size()) < most) {
    Branch<Open>* chosen = tree.most_attractive();
    if (chosen == nullptr) break;
    if (!chosen->ranked) {
      MTMC_RETURN_IF_ERROR(rank(environment, *chosen));
      continue;
    }
    if (!asked.add(*chosen->state.node, chosen->state.proposals, chosen->next)) break;
    of.push_back(chosen);
    ++chosen->next, ++chosen->tries;
  }
  return ok_status();
}

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  Tree tree;
  MTMC_RETURN_IF_ERROR(open(environment, tree, start, false));
  MTMC_TRY(const std::vector<SearchNode*> reached, environment.descend(start));
  for (SearchNode* node : reached) MTMC_RETURN_IF_ERROR(open(environment, tree, *node, false));
  double best = environment.best()->score();
  int idle = 0;  // attempts in a row without progress
  AskedSteps asked(environment);
  std::deque<Branch<Open>*> of;  // where the steps begin that are under way
  while (idle < options.patience && !environment.spent()) {
    MTMC_RETURN_IF_ERROR(choose(environment, tree, asked, of, options.patience - idle));
    if (asked.empty()) break;
    Branch<Open>& from = *of.front();
    of.pop_front();
    MTMC_TRY(const std::optional<Environment::Step> made, asked.take());
    if (!made) {  // its repair is under way, behind the others
      of.push_back(&from);
      continue;
    }
    const Environment::Step& taken = *made;
    from.tries -= !taken.fresh && taken.node != nullptr;  // it was known: no measurement
    idle = taken.fresh && taken.node->score() > kProgress * best ? 0 : idle + taken.fresh;
    best = environment.best()->score();
    if (taken.fresh && taken.node->screen.certified())
      MTMC_RETURN_IF_ERROR(open(environment, tree, *taken.node, !from.gains.empty()));
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef tree_def;
const StrategyDef tree_def{"tree", "best-first: always the most promising state with something left to try", run};

}  // namespace mtmc
