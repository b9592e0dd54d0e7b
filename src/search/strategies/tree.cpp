// Best-first tree search with descents (frontier.h): always the most attractive state that has untried proposals; what
// is sure behind a step is done before anything is judged.
#include <algorithm>
#include <deque>
#include <limits>
#include <set>

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
using Step = Environment::Step;

// From what is expected to what is hoped for. But for graphs the policy's order stays: what stands behind another is
// worth as much at most, since what is known to pay comes before what may (free code). Where there is free code to try,
// what should lose is not tried.
void hope(std::vector<Proposal>& proposals, const std::vector<double>& gains, std::vector<Chance>& chances) {
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
  for (const auto& [loss, i] : order) {
    chances.push_back({.hope = -loss, .sure = gains[i] >= kSure && !proposals[i].beyond});
    kept.push_back(std::move(proposals[i]));
  }
  proposals = std::move(kept);
}

class TreeSearch {
 public:
  TreeSearch(Environment& environment, const StrategyOptions& options)
      : environment_(environment),
        options_(options),
        asked_(environment, [this](SearchNode&, const std::vector<Proposal>&, size_t which) {
          return go(*under_way_.front(), which);
        }) {}

  Status run(SearchNode& start) {
    MTMC_RETURN_IF_ERROR(open(start, false));
    MTMC_TRY(const std::vector<SearchNode*> reached, environment_.descend(start));
    for (SearchNode* node : reached) MTMC_RETURN_IF_ERROR(open(*node, false));
    double best = environment_.best()->score();
    int idle = 0;  // attempts in a row without progress
    while (idle < options_.patience && !environment_.spent()) {
      MTMC_RETURN_IF_ERROR(choose(options_.patience - idle));
      if (asked_.empty()) break;
      Branch<Open>& from = *under_way_.front();
      MTMC_TRY(const std::optional<Step> made, asked_.take());
      under_way_.pop_front();
      if (!made) {  // its repair is under way, behind the others
        under_way_.push_back(&from);
        continue;
      }
      const Step& taken = *made;
      from.tries -= !taken.fresh && taken.node != nullptr;  // it was known: no measurement
      idle = taken.fresh && taken.node->score() > kProgress * best ? 0 : idle + taken.fresh;
      best = environment_.best()->score();
      if (taken.fresh && taken.node->screen.certified() && !opened_.contains(taken.node))
        MTMC_RETURN_IF_ERROR(open(*taken.node, from.knows_gains));
    }
    return ok_status();
  }

 private:
  Status rank(Branch<Open>& branch) {
    auto& [node, proposals] = branch.state;
    std::vector<double> gains;
    MTMC_TRY(proposals, environment_.ranked(*node, kLeastGain, &gains));
    branch.ranked = true, branch.knows_gains = !gains.empty();
    if (branch.knows_gains)
      hope(proposals, gains, branch.chances);
    else
      branch.chances.resize(proposals.size());
    return ok_status();
  }

  Branch<Open>& open(SearchNode& node, double speed, double promise) {
    opened_.insert(&node);
    return tree_.open({&node}, speed, promise);
  }
  // A policy that knows gains is asked at once: without them its states cannot be compared with those that have them.
  Status open(SearchNode& node, bool knows_gains) {
    Branch<Open>& branch = open(node, node.score(), environment_.promise(node) / node.score());
    return knows_gains && node.state.program != nullptr ? rank(branch) : ok_status();
  }

  // What is under way counts as tried: each further step is chosen as if nothing had come of them.
  Status choose(int most) {
    while (asked_.room() && static_cast<int>(asked_.size()) < most) {
      Branch<Open>* chosen = tree_.most_attractive();
      if (chosen == nullptr) break;
      if (!chosen->ranked) {
        MTMC_RETURN_IF_ERROR(rank(*chosen));
        continue;
      }
      if (!asked_.add(*chosen->state.node, chosen->state.proposals, chosen->next)) break;
      under_way_.push_back(chosen);
      chosen->tried(chosen->next), ++chosen->tries;
    }
    return ok_status();
  }

  // Who writes without asking anybody may write what nobody looks at.
  bool may_descend(const Branch<Open>& from, size_t which) {
    const auto& [node, proposals] = from.state;
    return options_.descends && from.knows_gains && !environment_.asks_for(*node, proposals[which]);
  }

  // A step, and what is sure behind it. What is passed is gone on from like the others.
  Result<Step> go(Branch<Open>& from, size_t which) {
    const std::vector<Proposal>& beside = from.state.proposals;
    if (!may_descend(from, which)) return environment_.step(*from.state.node, beside, which);
    std::vector<Branch<Open>*> way;
    Branch<Open>* at = &from;
    for (std::optional<size_t> next = which; next;) {
      MTMC_TRY(const Step made, environment_.make(*at->state.node, at->state.proposals, *next));
      if (!made.fresh && way.empty()) return made;
      if (!made.fresh) break;
      way.push_back(&open(*made.node, at->speed_behind(*next), 1));
      at = way.back();
      MTMC_RETURN_IF_ERROR(rank(*at));
      next = environment_.spent() ? std::nullopt : at->sure();
      if (!next || !may_descend(*at, *next) || environment_.met(*at->state.node, at->state.proposals[*next])) break;
      at->tried(*next), ++at->tries;
    }
    // What stands beside a descent is no guess at what is judged next.
    const size_t then = way.size() == 1 ? which + 1 : beside.size();
    MTMC_TRY(const std::vector<SearchNode*> right, environment_.judge_made(*at->state.node, beside, then));
    arrive(way);
    const auto best = std::max_element(right.begin(), right.end(), [](const SearchNode* one, const SearchNode* other) {
      return one->score() < other->score();
    });
    return Step{best == right.end() ? at->state.node : *best, true};
  }

  // What was learned about the states on a way. Behind a refused one is nothing.
  static void arrive(const std::vector<Branch<Open>*>& way) {
    bool refused = false;
    for (Branch<Open>* one : way) {
      const SearchNode& node = *one->state.node;
      refused |= node.judged && !node.screen.certified();
      if (refused) one->close();
      if (!refused && node.judged) one->speed = node.score();
    }
  }

  Environment& environment_;
  const StrategyOptions& options_;
  Frontier<Open> tree_;
  std::set<const SearchNode*> opened_;
  AskedSteps asked_;
  std::deque<Branch<Open>*> under_way_;  // where the steps begin
};

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  return TreeSearch(environment, options).run(start);
}

}  // namespace

extern const StrategyDef tree_def;
const StrategyDef tree_def{"tree", "best-first: always the most promising state with something left to try", run};

}  // namespace mtmc
