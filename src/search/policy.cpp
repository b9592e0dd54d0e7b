#include "search/policy.h"

#include "search_policies.h"

namespace mtmc {

double Policy::promise(const Program& program) {
  const std::optional<Prospect> all = prospect(program);
  return all && all->completed > 0 ? all->now / all->completed : 1;
}

const PolicyDef* find_policy(std::string_view name) {
  for (const PolicyDef* def : kPolicies)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const PolicyDef*> all_policies() { return {std::begin(kPolicies), std::end(kPolicies)}; }

}  // namespace mtmc
