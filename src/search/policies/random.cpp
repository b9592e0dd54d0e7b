// Every order of the legal actions is equally likely; one of them is stop.
#include <numeric>

#include "base/hash.h"
#include "base/rng.h"
#include "search/policy.h"

namespace mtmc {
namespace {

class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(uint64_t seed) : seed_(seed) {}
  std::string name() const override { return "random"; }

  Result<Ranking> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    const std::string moment =
        std::to_string(seed_) + "/" + observation.state_hash + "/" + std::to_string(observation.visit);
    Rng rng(std::stoull(short_hash(moment, 15), nullptr, 16));
    std::vector<size_t> order(proposals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);  // Fisher & Yates
    return order;
  }

 private:
  uint64_t seed_;
};

}  // namespace

extern const PolicyDef random_def;
const PolicyDef random_def{"random", "any legal action, stop included, with equal chance", "",
                           [](const PolicyContext& context) -> Result<std::unique_ptr<Policy>> {
                             return std::make_unique<RandomPolicy>(context.seed);
                           }};

}  // namespace mtmc
