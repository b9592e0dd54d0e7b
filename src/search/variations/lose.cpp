// One action less: the others are done from the start.
#include "search/variation.h"

namespace mtmc {
namespace {

bool can(const Island& island, const SearchNode& parent) {
  return !island.environment().coder_chooses() && parent.step > 1;
}

Status vary(Island& island, SearchNode& parent) {
  Genome actions = genome_of(parent);
  actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(island.rng().below(actions.size())));
  return island.replay(island.start(), actions);
}

}  // namespace

namespace variations {
extern const VariationDef lose_def;
const VariationDef lose_def{"lose", "an action less", 0.15, can, vary};
}  // namespace variations

}  // namespace mtmc
