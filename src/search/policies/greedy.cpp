// The action that the cost model expects most of first (see gains.h); stop stands where less than 2 % is to be gained.
#include <algorithm>
#include <numeric>

#include "search/gains.h"
#include "search/policy.h"

namespace mtmc {
namespace {

class GreedyPolicy final : public Policy {
 public:
  explicit GreedyPolicy(const PolicyContext& context)
      : context_{context.hardware, context.target, context.paper_only}, forecaster_(context_) {}
  std::string name() const override { return "greedy"; }

  Result<Ranking> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    std::vector<size_t> order(proposals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (observation.program == nullptr) return order;  // nothing to predict with: as its coder proposes
    std::vector<double> gains = expected_gains(*observation.program, proposals, context_, forecaster_);
    for (size_t i = 0; i < proposals.size(); ++i)
      if (proposals[i].stop()) gains[i] = observation.worthwhile;
    const auto turn = [&](size_t i) {
      if (gains[i] < observation.worthwhile || proposals[i].stop()) return 3;
      if (proposals[i].beyond) return 2;  // what is known to pay stands before what may
      return rewrites_layers(proposals[i].action) && gains[i] > std::max(observation.worthwhile, kWorthwhile) ? 0 : 1;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return turn(a) != turn(b) ? turn(a) < turn(b) : gains[a] > gains[b]; });
    return Ranking(std::move(order), std::move(gains));
  }

  bool foresees() const override { return true; }

  std::optional<Prospect> prospect(const Program& program) override { return forecaster_.prospect(program); }

 private:
  // What rewrites all layers of a network stands before what fuses some of them, as far as it pays at all: afterwards a
  // kernel, which holds so many operators, holds more layers. Six of BERT: 6.9 ms are expected after attention and two
  // fusions, 7.3 after three fusions and attention.
  static bool rewrites_layers(const Action& action) { return action.type == "simplify" && action.regions.size() > 1; }

  ActionContext context_;
  Forecaster forecaster_;
};

}  // namespace

extern const PolicyDef greedy_def;
const PolicyDef greedy_def{"greedy", "the action that the cost model expects most of; stop below 2 % expected gain", "",
                           [](const PolicyContext& context) -> Result<std::unique_ptr<Policy>> {
                             return std::make_unique<GreedyPolicy>(context);
                           }};

}  // namespace mtmc
