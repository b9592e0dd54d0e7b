#include "search/variation.h"

#include <algorithm>

#include "search_variations.h"

namespace mtmc {

const VariationDef* find_variation(std::string_view name) {
  for (const VariationDef* def : variations::kVariations)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const VariationDef*> all_variations() {
  return {std::begin(variations::kVariations), std::end(variations::kVariations)};
}

Genome genome_of(const SearchNode& node) {
  Genome actions;
  for (const SearchNode* at = &node; at->parent != nullptr; at = at->parent) actions.push_back(at->action);
  std::reverse(actions.begin(), actions.end());
  return actions;
}

SearchNode& Island::drawn() const {
  SearchNode* one = states_[rng().below(states_.size())];
  SearchNode* other = states_[rng().below(states_.size())];
  return environment().promise(*one) >= environment().promise(*other) ? *one : *other;
}

Result<SearchNode*> Island::step(SearchNode& parent, const std::vector<Proposal>& proposals, size_t which,
                                 const SearchNode* partner) {
  MTMC_TRY(const Environment::Step taken, environment().step(parent, proposals, which, partner));
  if (taken.node == nullptr || !taken.node->screen.certified()) return static_cast<SearchNode*>(nullptr);
  join(*taken.node);
  return taken.node;
}

Result<bool> Island::grow(SearchNode& parent, double next, const SearchNode* partner) {
  const auto [found, first] = shared_.choices.try_emplace(&parent);
  auto& [wanted, tried] = found->second;
  if (first) {
    MTMC_TRY(wanted, environment().ranked(parent));
    tried.assign(wanted.size(), false);
  }
  size_t chosen = wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (tried[i]) continue;
    chosen = i;
    if (rng().uniform() >= next) break;
  }
  if (chosen == wanted.size()) return false;
  tried[chosen] = true;
  MTMC_TRY([[maybe_unused]] const SearchNode* child, step(parent, wanted, chosen, partner));
  return true;
}

Status Island::replay(SearchNode& from, const Genome& actions, const SearchNode* partner) {
  SearchNode* here = &from;
  for (const Action& action : actions) {
    if (environment().spent()) break;
    MTMC_TRY(const std::vector<Proposal> legal, environment().legal(*here));
    const auto same =
        std::find_if(legal.begin(), legal.end(), [&](const Proposal& proposal) { return proposal.action == action; });
    if (same == legal.end() || here->step >= environment().limits().steps) continue;
    MTMC_TRY(SearchNode * next, step(*here, {*same}, 0, partner));
    if (next == nullptr) break;
    here = next;
  }
  return ok_status();
}

void Island::join(SearchNode& state) {
  if (std::find(states_.begin(), states_.end(), &state) == states_.end()) states_.push_back(&state);
}

void Island::select(size_t most) {
  std::stable_sort(states_.begin(), states_.end(), [&](const SearchNode* a, const SearchNode* b) {
    return environment().promise(*a) > environment().promise(*b);
  });
  if (states_.size() > most) states_.resize(most);
}

}  // namespace mtmc
