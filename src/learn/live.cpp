#include "learn/live.h"

#include <algorithm>

#include "base/parallel.h"
#include "search/gains.h"
#include "search/offer.h"
#include "search/prompt.h"

namespace mtmc {

Standing standing_of(const Verdict& verdict) {
  if (verdict.certified()) return Standing::right;
  const bool built = verdict.stage != "compile" && verdict.reason != "compile-error";
  return built ? Standing::wrong : Standing::no_build;
}

double time_of(const Verdict& verdict) {
  const Speedup* eager = speedup_over(verdict, "eager");
  return verdict.certified() && eager != nullptr && eager->median > 0 ? 1 / eager->median : 1;
}

Result<Place> place_of(const CodeState& state, const std::string& state_hash, const Verdict& verdict,
                       const std::vector<Proposal>& proposals, const ActionContext& context, Forecaster& forecaster,
                       bool program) {
  Place place;
  place.state = state_hash, place.code = state.code.text;
  place.standing = standing_of(verdict), place.time = time_of(verdict);
  place.outcome = verdict.certified() ? to_string(verdict.outcome) : verdict.reason;
  std::vector<double> shares(proposals.size(), 0);
  if (state.program != nullptr) shares = time_shares(proposals, *state.program, context);
  const Offer offer = first_pass(proposals, shares);
  place.left_out = offer.left_out;
  const bool as_program = program && state.program != nullptr;
  const Code shown = as_program ? program_text(*state.program) : Code{};
  if (as_program) place.code = shown.text;
  std::vector<Proposal> kept;
  for (size_t i : offer.kept) kept.push_back(proposals[i]);
  std::vector<double> gains(kept.size(), 0);
  if (state.program != nullptr) gains = expected_gains(*state.program, kept, context, forecaster);
  for (size_t k = 0; k < kept.size(); ++k) {
    const size_t i = offer.kept[k];
    if (kept[k].stop()) continue;
    const Action& action = kept[k].action;
    std::string text = as_program ? render(action, *state.program, shown) : proposals[i].text;
    place.actions.push_back({std::move(text), store_text(action), shares[i], gains[k]});
  }
  return place;
}

Result<const Place*> LiveDynamics::known(SearchNode& node) {
  if (const auto at = places_.find(&node); at != places_.end()) return &at->second.place;
  Known known{&node, {}, {}, {}};
  std::vector<Proposal> legal;
  if (node.screen.certified()) {
    MTMC_TRY(legal, environment_.legal(node));
  }
  MTMC_TRY(known.place,
           place_of(node.state, node.state_hash, node.screen, legal, environment_.context(), forecaster_, program_));
  for (const PlaceAction& action : known.place.actions)
    known.proposals.push_back(*std::find_if(legal.begin(), legal.end(), [&](const Proposal& proposal) {
      return store_text(proposal.action) == action.action;
    }));
  known.leads.resize(known.proposals.size());
  if (const auto& program = node.state.program; program != nullptr)
    in_parallel(known.leads.size(), [&](size_t i) {
      const auto next = apply_action(*program, known.proposals[i].action, environment_.context());
      if (next.ok()) known.leads[i] = state_hash(*next);
    });
  const Known& kept = places_.emplace(&node, std::move(known)).first->second;
  known_[&kept.place] = &kept;
  return &kept.place;
}

Result<const Place*> LiveDynamics::start(size_t) {
  if (start_ == nullptr) {
    MTMC_TRY(start_, environment_.start());
  }
  return known(*start_);
}

Result<const Place*> LiveDynamics::take(size_t, const Place& place, size_t which, Rng&) {
  if (environment_.spent())
    return Error{"taking a step", "the environment's limits are spent", "", "limits without an end"};
  const Known& from = *known_.at(&place);
  MTMC_TRY(const Environment::Step taken, environment_.step(*from.node, {from.proposals[which]}, 0));
  if (taken.node == nullptr) return nullptr;
  return known(*taken.node);
}

}  // namespace mtmc
