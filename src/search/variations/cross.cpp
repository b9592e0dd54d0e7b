// What led to another state is done on top of this one.
#include "search/variation.h"

namespace mtmc {
namespace {

bool can(const Island& island, const SearchNode&) {
  return !island.environment().coder_chooses() && island.states().size() > 1;
}

Status vary(Island& island, SearchNode& parent) {
  const SearchNode& other = island.drawn();
  return &other == &parent ? ok_status() : island.replay(parent, genome_of(other), &other);
}

}  // namespace

namespace variations {
extern const VariationDef cross_def;
const VariationDef cross_def{"cross", "the actions of another state on top", 0.25, can, vary};
}  // namespace variations

}  // namespace mtmc
