// One action more: what the policy wants there, and sometimes any other.
#include "search/variation.h"

namespace mtmc {
namespace {

constexpr double kNextBest = 0.4;  // the policy's next choice is taken instead, each time
constexpr double kAny = 0.1;       // any legal action, whatever the policy thinks

bool can(const Island& island, const SearchNode&) { return !island.environment().coder_chooses(); }

Status vary(Island& island, SearchNode& parent) {
  if (island.rng().uniform() >= kAny) {
    MTMC_TRY([[maybe_unused]] const bool grew, island.grow(parent, kNextBest));
    return ok_status();
  }
  MTMC_TRY(const std::vector<Proposal> legal, island.environment().legal(parent));
  const size_t which = island.rng().below(legal.size());
  if (legal[which].stop()) return ok_status();
  MTMC_TRY([[maybe_unused]] const SearchNode* child, island.step(parent, {legal[which]}, 0));
  return ok_status();
}

}  // namespace

namespace variations {
extern const VariationDef grow_def;
const VariationDef grow_def{"grow", "an action more", 0.6, can, vary};
}  // namespace variations

}  // namespace mtmc
