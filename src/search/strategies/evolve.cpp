// Evolution of schedules: islands of individuals that vary by rules, without a language model (the frame is that of
// AVO, arXiv 2603.24517, whose variations an agent makes). An individual is a state of the tree and its genome the
// actions that led there, so that the lineage is the tree in the store.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "search/strategy.h"

namespace mtmc {
namespace {

constexpr size_t kIslands = 3, kIndividuals = 6;
constexpr size_t kMigration = 4;               // turns of all islands between two migrations
constexpr double kCross = 0.25, kDrop = 0.15;  // of all variations; the others grow
constexpr double kNextBest = 0.4;              // the policy's next choice is taken instead, each time
constexpr double kAny = 0.1;                   // of all that grow: any legal action, whatever the policy thinks
constexpr double kProgress = 1.01;             // a new best is worth mentioning from here on
constexpr int kBarren = 60;                    // variations in a row without a new state after which nothing is left

using Genome = std::vector<Action>;

Genome genome_of(const SearchNode& node) {
  Genome actions;
  for (const SearchNode* at = &node; at->parent != nullptr; at = at->parent) actions.push_back(at->action);
  std::reverse(actions.begin(), actions.end());
  return actions;
}

class Evolution {
 public:
  Evolution(Environment& environment, SearchNode& start, const StrategyOptions& options)
      : environment_(environment), start_(start), patience_(options.patience), rng_(options.seed), islands_(kIslands) {
    for (auto& island : islands_) island.push_back(&start);
  }

  Status run() {
    double best = start_.score();
    int idle = 0, barren = 0;  // variations in a row without progress, of those that were judged; without a new state
    for (size_t turn = 0; !environment_.spent() && idle < patience_ * static_cast<int>(kIslands) && barren < kBarren;
         ++turn) {
      auto& island = islands_[turn % kIslands];
      const int before = environment_.evaluations();
      MTMC_RETURN_IF_ERROR(vary(island));
      select(island);
      if (turn % (kMigration * kIslands) == kMigration * kIslands - 1) migrate();
      const int judged = environment_.evaluations() - before;
      barren = judged > 0 ? 0 : barren + 1;
      idle = environment_.best()->score() > kProgress * best ? 0 : idle + judged;
      best = environment_.best()->score();
    }
    return ok_status();
  }

 private:
  using Island = std::vector<SearchNode*>;
  struct Proposals {
    std::vector<Proposal> wanted;  // in the policy's order
    std::vector<bool> tried;
  };

  Status vary(Island& island) {
    SearchNode& parent = drawn(island);
    const double kind = rng_.uniform();
    if (kind < kCross && island.size() > 1) return replay(parent, genome_of(drawn(island)), island);
    Genome actions = genome_of(parent);
    if (kind < kCross + kDrop && actions.size() > 1) {
      actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(rng_.below(actions.size())));
      return replay(start_, actions, island);
    }
    return grow(parent, island);
  }

  // The fitter of two.
  SearchNode& drawn(const Island& island) {
    SearchNode* one = island[rng_.below(island.size())];
    SearchNode* other = island[rng_.below(island.size())];
    return environment_.promise(*one) >= environment_.promise(*other) ? *one : *other;
  }

  Status grow(SearchNode& parent, Island& island) {
    if (rng_.uniform() < kAny) {
      MTMC_TRY(const std::vector<Proposal> legal, environment_.legal(parent));
      const size_t which = rng_.below(legal.size());
      if (legal[which].stop()) return ok_status();
      MTMC_TRY([[maybe_unused]] const SearchNode* child, step(parent, {legal[which]}, 0, island));
      return ok_status();
    }
    const auto [found, first] = proposals_.try_emplace(&parent);
    auto& [wanted, tried] = found->second;
    if (first) {
      MTMC_TRY(wanted, environment_.ranked(parent));
      tried.assign(wanted.size(), false);
    }
    size_t chosen = wanted.size();
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (tried[i]) continue;
      chosen = i;
      if (rng_.uniform() >= kNextBest) break;
    }
    if (chosen == wanted.size()) return ok_status();
    tried[chosen] = true;
    MTMC_TRY([[maybe_unused]] const SearchNode* child, step(parent, wanted, chosen, island));
    return ok_status();
  }

  // As many of the actions as can still be done, on top of what `from` is; up to the first that is refused.
  Status replay(SearchNode& from, const Genome& actions, Island& island) {
    SearchNode* here = &from;
    for (const Action& action : actions) {
      if (environment_.spent()) break;
      MTMC_TRY(const std::vector<Proposal> legal, environment_.legal(*here));
      const auto same =
          std::find_if(legal.begin(), legal.end(), [&](const Proposal& proposal) { return proposal.action == action; });
      if (same == legal.end() || here->step >= environment_.limits().steps) continue;
      MTMC_TRY(SearchNode * next, step(*here, {*same}, 0, island));
      if (next == nullptr) break;
      here = next;
    }
    return ok_status();
  }

  // The individual that a step leads to, which joins the island; null when it was refused.
  Result<SearchNode*> step(SearchNode& parent, const std::vector<Proposal>& proposals, size_t which, Island& island) {
    MTMC_TRY(const Environment::Step taken, environment_.step(parent, proposals, which));
    if (taken.node == nullptr || !taken.node->screen.certified()) return static_cast<SearchNode*>(nullptr);
    if (std::find(island.begin(), island.end(), taken.node) == island.end()) island.push_back(taken.node);
    return taken.node;
  }

  void select(Island& island) const {
    std::stable_sort(island.begin(), island.end(), [&](const SearchNode* a, const SearchNode* b) {
      return environment_.promise(*a) > environment_.promise(*b);
    });
    if (island.size() > kIndividuals) island.resize(kIndividuals);
  }

  // The best of each island goes to the next one.
  void migrate() {
    std::vector<SearchNode*> best;
    for (const Island& island : islands_) best.push_back(island.front());
    for (size_t i = 0; i < kIslands; ++i) {
      Island& next = islands_[(i + 1) % kIslands];
      if (std::find(next.begin(), next.end(), best[i]) == next.end()) next.push_back(best[i]);
      select(next);
    }
  }

  Environment& environment_;
  SearchNode& start_;
  const int patience_;
  Rng rng_;
  std::vector<Island> islands_;
  std::map<const SearchNode*, Proposals> proposals_;
};

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  return Evolution(environment, start, options).run();
}

}  // namespace

extern const StrategyDef evolve_def;
const StrategyDef evolve_def{"evolve", "islands of schedules that grow, cross and lose steps; the fitter ones stay",
                             run};

}  // namespace mtmc
