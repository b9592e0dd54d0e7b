// Evolution: islands of states that vary (the frame is that of AVO, arXiv 2603.24517). What varies them is a table of
// variations: by rules, without a language model, or by an agent. A state's genome are the actions that led there, so
// that the lineage is the tree in the store.
#include "search/strategy.h"
#include "search/variation.h"

namespace mtmc {
namespace {

constexpr size_t kIslands = 3, kIndividuals = 6;
constexpr size_t kMigration = 4;    // turns of all islands between two migrations
constexpr int kSown = 6;            // judged states that the policy alone chooses, before chance does
constexpr double kProgress = 1.01;  // a new best is worth mentioning from here on
constexpr int kBarren = 60;         // variations in a row without a new state after which nothing is left

class Evolution {
 public:
  Evolution(Environment& environment, SearchNode& start, const StrategyOptions& options)
      : shared_{environment, start, Rng(options.seed)},
        patience_(options.patience),
        islands_(kIslands, Island(shared_)) {}

  Status run() {
    Environment& environment = shared_.environment;
    MTMC_RETURN_IF_ERROR(sow());
    double best = environment.best()->score();
    int idle = 0, barren = 0;  // variations in a row without progress, of those that were judged; without a new state
    for (size_t turn = 0; !environment.spent() && idle < patience_ * static_cast<int>(kIslands) && barren < kBarren;
         ++turn) {
      Island& island = islands_[turn % kIslands];
      const int before = environment.evaluations();
      MTMC_RETURN_IF_ERROR(vary(island));
      island.select(kIndividuals);
      if (turn % (kMigration * kIslands) == kMigration * kIslands - 1) migrate();
      const int judged = environment.evaluations() - before;
      barren = judged > 0 ? 0 : barren + 1;
      idle = environment.best()->score() > kProgress * best ? 0 : idle + judged;
      best = environment.best()->score();
    }
    return ok_status();
  }

 private:
  // The first population: what the policy likes best at the most promising state where it knows more. A population that
  // begins with chance needs more states than most searches judge to come to what a few sensible steps lead to.
  Status sow() {
    Environment& environment = shared_.environment;
    if (environment.coder_chooses()) return ok_status();
    Island& first = islands_.front();
    const int before = environment.evaluations();
    for (bool grew = true; grew && !environment.spent() && environment.evaluations() - before < kSown;) {
      grew = false;
      const std::vector<SearchNode*> states = first.states();
      for (size_t i = 0; i < states.size() && !grew; ++i) {
        MTMC_TRY(grew, first.grow(*states[i], 0));
      }
      first.select(kIndividuals);
    }
    for (Island& island : islands_)
      for (SearchNode* state : first.states()) island.join(*state);
    for (Island& island : islands_) island.select(kIndividuals);
    return ok_status();
  }

  Status vary(Island& island) {
    SearchNode& parent = island.drawn();
    std::vector<const VariationDef*> able;
    double shares = 0;
    for (const VariationDef* def : all_variations())
      if (def->can(island, parent)) able.push_back(def), shares += def->share;
    double at = shared_.rng.uniform() * shares;
    for (const VariationDef* def : able)
      if ((at -= def->share) < 0) return def->vary(island, parent);
    return able.empty() ? ok_status() : able.back()->vary(island, parent);
  }

  // The best of each island goes to the next one.
  void migrate() {
    std::vector<SearchNode*> best;
    for (const Island& island : islands_) best.push_back(island.states().front());
    for (size_t i = 0; i < kIslands; ++i) {
      Island& next = islands_[(i + 1) % kIslands];
      next.join(*best[i]);
      next.select(kIndividuals);
    }
  }

  Archipelago shared_;
  const int patience_;
  std::vector<Island> islands_;
};

Status run(Environment& environment, SearchNode& start, const StrategyOptions& options) {
  return Evolution(environment, start, options).run();
}

}  // namespace

extern const StrategyDef evolve_def;
const StrategyDef evolve_def{
    "evolve", "islands of states that grow, cross and lose steps, or that an agent varies; the fitter ones stay", run};

}  // namespace mtmc
