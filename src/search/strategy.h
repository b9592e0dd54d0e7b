// How a policy is used: which node is expanded next. To add one: src/search/strategies/NAME.cpp defining
// `extern const StrategyDef NAME_def`; a generated table finds it.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/environment.h"

namespace mtmc {

constexpr int kBeamPatience = 2;  // beam: depths in a row without a new best after which it ends

struct StrategyOptions {
  int width = 2;         // beam: nodes kept at each depth
  int patience = 8;      // tree, and each island of evolve: attempts in a row without progress after which it ends
  int breadth = 3;       // proposals tried at a node before others get their turn
  bool descends = true;  // tree: what is sure behind a step is done before anything is judged
  uint64_t seed = 0;     // evolve: of all that it draws; the run's own
};

struct StrategyDef {
  std::string_view name, doc;
  // Steps until the environment is spent or nothing is left to try. `start` is judged and not refused.
  Status (*run)(Environment& environment, SearchNode& start, const StrategyOptions& options);
};

const StrategyDef* find_strategy(std::string_view name);
std::vector<const StrategyDef*> all_strategies();

}  // namespace mtmc
