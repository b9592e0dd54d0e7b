#include "workbench/way.h"

#include "base/text.h"
#include "coder/coder.h"
#include "search/policy.h"
#include "search/strategy.h"
#include "workbench/chosen.h"

namespace mtmc {

Result<Way> parse_way(const std::string& word) {
  const std::string paper = "/paper";
  const size_t at = word.find('@');
  std::string rest = word.substr(0, at), coder = at == word.npos ? "" : word.substr(at + 1);
  const bool paper_only = rest.ends_with(paper);
  if (paper_only) rest.resize(rest.size() - paper.size());
  const size_t slash = rest.rfind('/');
  const std::string strategy = slash == rest.npos ? "" : rest.substr(slash + 1);
  if (find_strategy(strategy) == nullptr) {
    std::vector<std::string> names;
    for (const StrategyDef* def : all_strategies()) names.emplace_back(def->name);
    return Error{"choosing how to search", "there is no such strategy", "'" + word + "'",
                 "POLICY/STRATEGY with one of " + join(names, ", ")};
  }
  MTMC_TRY([[maybe_unused]] const auto policy, chosen("a policy", rest.substr(0, slash), all_policies()));
  if (at != word.npos)
    for (const std::string& one : split(coder, ',')) {
      MTMC_TRY([[maybe_unused]] const auto found, chosen("a coder", one, all_coders()));
    }
  return Way{rest.substr(0, slash), strategy, paper_only, std::move(coder)};
}

}  // namespace mtmc
