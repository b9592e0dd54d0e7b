// Beam search: at each depth the best few proposals of each kept node are tried, and the most promising results kept.
#include <algorithm>

#include "search/asked_steps.h"
#include "search/strategy.h"

namespace mtmc {
namespace {

// Tries the node's proposals until `breadth` of them reached a new state.
Status expand(Environment& environment, SearchNode& node, int breadth, std::vector<SearchNode*>& found) {
  MTMC_TRY(const std::vector<Proposal> proposals, environment.ranked(node));
  AskedSteps asked(environment);
  size_t next = 0;
  while (breadth > 0 && !environment.spent()) {
    while (next < proposals.size() && static_cast<int>(asked.size()) < breadth && asked.room() &&
           asked.add(node, proposals, next))
      ++next;
    if (asked.empty()) break;
    MTMC_TRY(const std::optional<Environment::Step> taken, asked.take());
    if (!taken || !taken->fresh) continue;
    --breadth;
    if (taken->node->screen.certified()) found.push_back(taken->node);
  }
  return ok_status();
}

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  std::vector<SearchNode*> kept{&start};
  int idle = 0;
  while (!kept.empty() && idle < kBeamPatience && !environment.spent()) {
    const double best = environment.best()->score();
    std::vector<SearchNode*> found;
    for (SearchNode* node : kept) MTMC_RETURN_IF_ERROR(expand(environment, *node, options.breadth, found));
    std::stable_sort(found.begin(), found.end(), [&](const SearchNode* a, const SearchNode* b) {
      return environment.promise(*a) > environment.promise(*b);
    });
    if (found.size() > static_cast<size_t>(options.width)) found.resize(options.width);
    kept = std::move(found);
    idle = environment.best()->score() > best ? 0 : idle + 1;
  }
  return ok_status();
}

}  // namespace

extern const StrategyDef beam_def;
const StrategyDef beam_def{"beam", "try the best few actions at each kept state, keep the most promising results", run};

}  // namespace mtmc
