#include "search/policy.h"

#include "search_policies.h"

namespace mtmc {

const PolicyDef* find_policy(std::string_view name) {
  for (const PolicyDef* def : kPolicies)
    if (def->name == name) return def;
  return nullptr;
}

std::vector<const PolicyDef*> all_policies() { return {std::begin(kPolicies), std::end(kPolicies)}; }

}  // namespace mtmc
