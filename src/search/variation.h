// How evolution makes new states from those of an island. To add one: src/search/variations/NAME.cpp defining
// `extern const VariationDef NAME_def` in the namespace `variations`; a generated table finds it.
#pragma once
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "search/environment.h"

namespace mtmc {

// The actions that led to a state.
using Genome = std::vector<Action>;
Genome genome_of(const SearchNode& node);

// What all islands of a run share.
struct Archipelago {
  struct Choice {
    std::vector<Proposal> wanted;  // in the policy's order
    std::vector<bool> tried;
  };
  Environment& environment;
  SearchNode& start;
  Rng rng;
  std::map<const SearchNode*, Choice> choices = {};
};

// A few states, and what variations do with them.
class Island {
 public:
  explicit Island(Archipelago& shared) : shared_(shared), states_{&shared.start} {}

  Environment& environment() const { return shared_.environment; }
  SearchNode& start() const { return shared_.start; }
  Rng& rng() const { return shared_.rng; }
  const std::vector<SearchNode*>& states() const { return states_; }

  // The more promising of two.
  SearchNode& drawn() const;
  // The state that a step leads to, which joins the island; null when it was refused. `partner`: see Environment::step.
  Result<SearchNode*> step(SearchNode& parent, const std::vector<Proposal>& proposals, size_t which,
                           const SearchNode* partner = nullptr);
  // The step that the policy wants first of those that were not tried there yet, with a chance of `next` the one behind
  // it instead, and so on. False where all were tried.
  Result<bool> grow(SearchNode& parent, double next, const SearchNode* partner = nullptr);
  // As many of the actions as can still be done, on top of what `from` is; up to the first that is refused.
  Status replay(SearchNode& from, const Genome& actions, const SearchNode* partner = nullptr);

  void join(SearchNode& state);
  // Keeps the most promising, the first of all in front.
  void select(size_t most);

 private:
  Archipelago& shared_;
  std::vector<SearchNode*> states_;
};

struct VariationDef {
  std::string_view name, doc;
  double share;  // how often, of all that can be made
  // Whether there is something to vary in this state.
  bool (*can)(const Island& island, const SearchNode& parent);
  // Takes one step or several; nothing may come of it.
  Status (*vary)(Island& island, SearchNode& parent);
};

const VariationDef* find_variation(std::string_view name);
std::vector<const VariationDef*> all_variations();

}  // namespace mtmc
