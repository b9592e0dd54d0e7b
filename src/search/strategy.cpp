#include "search/strategy.h"

#include "search_strategies.h"

namespace mtmc {

const StrategyDef* find_strategy(std::string_view name) {
  for (const StrategyDef* def : kStrategies)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const StrategyDef*> all_strategies() { return {std::begin(kStrategies), std::end(kStrategies)}; }

}  // namespace mtmc
