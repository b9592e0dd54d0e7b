#include "search/asked_steps.h"

#include "search/step_request.h"

namespace mtmc {

bool Environment::asks_for(const SearchNode& node, const Proposal& proposal) {
  return coder_.would_ask(*StepRequest({node, proposal, nullptr}, nullptr, [this] { return seconds_left(); }));
}

bool Environment::ask_ahead(const SearchNode& node, const Proposal& proposal) {
  if (node.state.program != nullptr && !proposal.beyond) {
    const auto predicted = apply_action(*node.state.program, proposal.action, context());
    if (!predicted.ok() || known_state(mtmc::state_hash(*predicted)) != nullptr) return false;
  }
  const StepRequest request({node, proposal, nullptr}, nullptr, [this] { return seconds_left(); });
  if (!coder_.would_ask(*request)) return false;
  const NodeRecord* record = recorded(node.id, store_text(proposal.action));
  if (record == nullptr || record->code.empty()) coder_.ask_ahead(*request);
  return true;
}

void Environment::end_questions() {
  if (coder_.questions() > 1) say("waiting for answers that are under way");
  coder_.end_questions();
}

bool AskedSteps::affordable() const {
  const int most = environment_.limits().evaluations;
  return !environment_.spent() && (most <= 0 || environment_.evaluations() + static_cast<int>(steps_.size()) < most);
}

bool AskedSteps::room() const {
  const bool beside = asks_ && static_cast<int>(steps_.size()) < environment_.questions();
  return affordable() && (steps_.empty() || beside);
}

bool AskedSteps::add(SearchNode& node, const std::vector<Proposal>& proposals, size_t which) {
  const bool asks = environment_.questions() > 1 && environment_.ask_ahead(node, proposals[which]);
  if (!steps_.empty() && !asks) return false;
  asks_ = asks;
  steps_.push_back({&node, &proposals, which});
  return true;
}

Result<std::optional<Environment::Step>> AskedSteps::take() {
  const Chosen chosen = std::move(steps_.front());
  steps_.pop_front();
  using Taken = std::optional<Environment::Step>;
  if (!asks_) {
    MTMC_TRY(const Environment::Step taken, alone_(*chosen.node, *chosen.proposals, chosen.which));
    return Taken(taken);
  }
  MTMC_TRY(const Environment::Step taken, environment_.attempt(*chosen.node, *chosen.proposals, chosen.which));
  if (!taken.fresh || !affordable()) return Taken(taken);
  if (auto repair = environment_.repair_of(*taken.node)) {
    auto proposals = std::make_unique<const std::vector<Proposal>>(1, std::move(*repair));
    if (environment_.ask_ahead(*taken.node, proposals->front())) {
      const std::vector<Proposal>* own = proposals.get();
      steps_.push_back({taken.node, own, 0, std::move(proposals)});
      return Taken();
    }
  }
  MTMC_TRY(const Environment::Step mended, environment_.mend(*taken.node));
  return Taken(mended);
}

}  // namespace mtmc
