// A coder that chooses for itself what changes writes another state; sometimes it is shown a second parent.
#include "search/variation.h"

namespace mtmc {
namespace {

constexpr double kCross = 0.25;

bool can(const Island& island, const SearchNode&) { return island.environment().coder_chooses(); }

Status vary(Island& island, SearchNode& parent) {
  const SearchNode* other = island.rng().uniform() < kCross ? &island.drawn() : &parent;
  const bool crossed = other != &parent && island.environment().coder_crosses();
  MTMC_TRY([[maybe_unused]] const bool grew, island.grow(parent, 0, crossed ? other : nullptr));
  return ok_status();
}

}  // namespace

namespace variations {
extern const VariationDef agent_def;
const VariationDef agent_def{"agent", "what a coder that chooses for itself makes of it", 1, can, vary};
}  // namespace variations

}  // namespace mtmc
