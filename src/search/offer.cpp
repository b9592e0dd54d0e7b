#include "search/offer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

using Place = std::pair<std::string, std::vector<ValueId>>;  // type and detail, region

std::string kind_of(const Action& action) { return action.type + ":" + action.detail; }

// All places that an action of several offers together.
std::set<Place> offered_together(const std::vector<Proposal>& proposals) {
  std::set<Place> places;
  for (const Proposal& proposal : proposals)
    if (proposal.action.regions.size() > 1)
      for (const auto& region : proposal.action.regions) places.insert({kind_of(proposal.action), region});
  return places;
}

}  // namespace

std::vector<double> time_shares(const std::vector<Proposal>& proposals, const Program& program,
                                const ActionContext& context) {
  const std::vector<KernelCost> costs = cost_of(program, context.target, context.hardware);
  std::map<ValueId, std::set<size_t>> kernels_of;
  double total = 0;
  for (size_t k = 0; k < costs.size(); ++k) {
    total += costs[k].seconds;
    for (ValueId id : program.kernels[k].values) kernels_of[id].insert(k);
  }
  std::vector<double> shares(proposals.size(), 0);
  if (total <= 0) return shares;
  for (size_t i = 0; i < proposals.size(); ++i) {
    std::set<size_t> touched;
    for (const auto& region : proposals[i].action.regions)
      for (ValueId id : region)
        if (const auto at = kernels_of.find(id); at != kernels_of.end())
          touched.insert(at->second.begin(), at->second.end());
    for (size_t k : touched) shares[i] += costs[k].seconds / total;
  }
  return shares;
}

Offer first_pass(const std::vector<Proposal>& proposals, const std::vector<double>& shares, size_t most) {
  MTMC_CHECK(shares.size() == proposals.size() && most > 0, "a share for each proposal, and room for one");
  const std::set<Place> together = offered_together(proposals);
  const auto again = [&](size_t i) {
    const Action& action = proposals[i].action;
    return action.regions.size() == 1 && together.contains({kind_of(action), action.regions[0]});
  };
  std::vector<std::string> types;
  std::map<std::string, std::vector<size_t>> of_type;
  Offer offer;
  for (size_t i = 0; i < proposals.size(); ++i) {
    if (proposals[i].stop()) {
      offer.kept.push_back(i);
      continue;
    }
    std::vector<size_t>& alike = of_type[proposals[i].action.type];
    if (alike.empty()) types.push_back(proposals[i].action.type);
    alike.push_back(i);
  }
  size_t deepest = 0;
  for (auto& [type, alike] : of_type) {
    std::stable_sort(alike.begin(), alike.end(),
                     [&](size_t a, size_t b) { return again(a) != again(b) ? again(b) : shares[a] > shares[b]; });
    deepest = std::max(deepest, alike.size());
  }
  for (size_t turn = 0; turn < deepest; ++turn)
    for (const std::string& type : types)
      if (turn < of_type[type].size() && offer.kept.size() < most) offer.kept.push_back(of_type[type][turn]);
  std::sort(offer.kept.begin(), offer.kept.end());
  offer.left_out = proposals.size() - offer.kept.size();
  return offer;
}

}  // namespace mtmc
