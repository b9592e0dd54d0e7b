// Best-first tree search (frontier.h): always the most attractive state that has untried proposals.
#include <algorithm>
#include <deque>
#include <limits>

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

// From what is expected to what is hoped for. But for graphs the policy's order stays: what stands behind another is
// worth as much at most, since what is known to pay comes before what may (free code). Where there is free code to try,
// what should lose is not tried.
void hope(std::vector<Proposal>& proposals, std::vector<double>& gains) {
  const bool free_code =
      std::any_of(proposals.begin(), proposals.end(), [](const Proposal& one) { return one.beyond; });
  std::vector<std::pair<double, size_t>> order;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < proposals.size(); ++i) {
    const Proposal& one = proposals[i];
    double hope = hoped(one.action.type, gains[i]);
    if (!one.beyond && (hope < kLeastHope || (free_code && gains[i] < kStopsWalk))) continue;
    if (one.action.type != "capture") hope = least = std::min(least, hope);
    order.emplace_back(-hope, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Proposal> kept;
  gains.clear();
  for (const auto& [loss, i] : order) kept.push_back(std::move(proposals[i])), gains.push_back(-loss);
  proposals = std::move(kept);
}

Status rank(Environment& environment, Branch<Open>& branch) {
  auto& [node, proposals] = branch.state;
  MTMC_TRY(proposals, environment.ranked(*node, kLeastGain, &branch.gains));
  if (!branch.gains.empty()) hope(proposals, branch.gains);
  branch.ranked = true;
  branch.actions = proposals.size();
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
