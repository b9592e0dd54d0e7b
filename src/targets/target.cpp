#include "targets/target.h"

#include <iterator>

#include "targets_table.h"

namespace mtmc {

const TargetDef* find_target(std::string_view name) {
  for (const TargetDef* target : kTargets)
    if (target->name == name) return target;
  return nullptr;
}

std::vector<const TargetDef*> all_targets() { return {std::begin(kTargets), std::end(kTargets)}; }

}  // namespace mtmc
